/* tall.js - scrolling through a list that is higher than a browser can scroll.
 *
 * Browsers end at 17.9 to 33.5 million pixels.  The position in the list, in its own pixels, is kept here; the
 * scroll bar shows it in a shorter space.  Wheel, fingers and keys move the list by as much as they would move any
 * other; only the thumb of the bar goes through the whole of it. */

const HIGHEST = 8e6; /* px */

/**
 * @param {HTMLElement} scroller
 * @param {number} row  height of a row
 * @param {{head: () => number, moved: () => void}} options  height of what sticks above the rows; called after each
 *   move
 */
export function tallList(scroller, row, { head, moved }) {
    let count = 0,
        position = 0 /* of the first row in sight, px in the list */,
        placed = 0; /* where the bar was put */

    const inSight = () => Math.max(0, scroller.clientHeight - head());
    const height = () => Math.min(count * row, HIGHEST);
    const factor = () => Math.max(1, (count * row - inSight()) / Math.max(1, height() - inSight()));

    function moveTo(to) {
        if (to === 0 && position === 0 && placed === 0) return moved(); /* there already, without a layout */
        position = Math.max(0, Math.min(to, count * row - inSight()));
        scroller.scrollTop = position / factor();
        placed = scroller.scrollTop;
        moved();
    }

    function onScroll() {
        const now = scroller.scrollTop,
            by = now - placed,
            times = factor();
        if (times === 1) position = now;
        else if (now <= 0) position = 0;
        else if (now >= height() - inSight() - 1) position = count * row - inSight();
        else if (Math.abs(by) > scroller.clientHeight) position = now * times;
        else if (by !== 0) return moveTo(position + by);
        placed = now;
        moved();
    }

    function onWheel(event) {
        if (factor() === 1 || event.ctrlKey || event.deltaY === 0) return;
        const unit = [1, row, inSight()][event.deltaMode] ?? 1;
        event.preventDefault();
        moveTo(position + event.deltaY * unit);
    }

    scroller.addEventListener('scroll', onScroll);
    scroller.addEventListener('wheel', onWheel, { passive: false });

    return {
        /** @param {number} rows */
        resize(rows) {
            count = rows;
        },
        moveTo,
        position: () => position,
        inSight,
        /**
         * The rows to draw, and the empty space above and below them.  Asks the browser for nothing, which would
         * have to lay out all that changed first.
         * @param {number} sight  height of the scroller
         * @param {number} ahead  rows beside those in sight
         */
        window(sight, ahead) {
            const top = placed;
            const first = Math.max(0, Math.floor(position / row) - ahead, Math.ceil((position - top) / row));
            const above = top + first * row - position,
                fitting = Math.floor((height() - above) / row);
            const last = Math.min(count, Math.ceil((position + sight) / row) + ahead, first + fitting);
            return { first, last, above, below: height() - above - (last - first) * row };
        },
    };
}
