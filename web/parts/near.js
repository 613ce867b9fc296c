/* near.js - what is only asked once somebody could see it: cards below the window cost nothing. */

const MARGIN = 100; /* px around the window that count as seen */

/**
 * Watches whether an element is in the window or close to it.
 * @param {HTMLElement} element
 */
export function whenNear(element) {
    let near = false,
        waiting = /** @type {(() => void)|null} */ (null);
    const watch = new IntersectionObserver(
        (all) => {
            near = all[all.length - 1].isIntersecting;
            if (near) run();
        },
        { rootMargin: `${MARGIN}px` },
    );
    watch.observe(element);

    function run() {
        const act = waiting;
        waiting = null;
        act?.();
    }

    return {
        /** Acts now or as soon as it is near, in place of what it waits for; gives whether it was now. */
        act(next) {
            waiting = next;
            if (near) run();
            return near;
        },
        close: () => watch.disconnect(),
    };
}
