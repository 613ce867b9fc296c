/* asking.js - what a box shows is the answer to the latest request, and to no other.
 *
 * The same request again shows the answer that is here, or waits on, with whatever else of the place has changed.
 * Another request drops that answer at once: none is ever drawn with the words and controls of a request it does not
 * belong to, however fast somebody clicks. */

import { drawn, loading } from './notice.js';

/**
 * @typedef {Object} Asked
 * @property {any} request  what the answer depends on
 * @property {string} what  is computed, for whoever waits
 * @property {string} [path]  of the call, to tell how far it is
 * @property {number} [height]
 * @property {(signal: AbortSignal) => Promise<any>} load
 * @property {(answer: any) => any} show
 * @property {(problem: any) => any} [fail]
 */

/** @param {HTMLElement} box  where waiting and errors stand */
export function asking(box) {
    let work = null,
        asked = null,
        answer = null;
    /** @type {Asked} */
    let latest = /** @type {any} */ (null);

    /**
     * @param {Asked} view
     * @returns {boolean} whether the request is a new one
     */
    function ask(view) {
        const request = JSON.stringify(view.request);
        latest = view;
        if (request === asked) {
            if (answer) drawn(box, () => view.show(answer.value));
            return false;
        }
        work?.abort();
        asked = request;
        answer = null;
        work = loading(box, {
            what: view.what,
            path: view.path,
            height: view.height,
            load: view.load,
            show: (value) => {
                answer = { value };
                return latest.show(value);
            },
            fail: (problem) => {
                asked = null;
                latest.fail?.(problem);
            },
            retry: () => {
                asked = null;
                ask(latest);
            },
        });
        return true;
    }

    /** Asks nothing more, and forgets what was asked. */
    function close() {
        work?.abort();
        asked = answer = null;
    }

    return { ask, close };
}
