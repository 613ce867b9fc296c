/* latest_request.js - a box shows the response to the latest request only.
 *
 * The same request again draws the response that is here, or goes on waiting for it, with whatever else of the place
 * has changed.  Another request drops that response at once: none is ever drawn with the words and controls of another
 * request, however fast somebody clicks. */

import { drawn, loading } from './notice.js';

/**
 * @typedef {Object} RequestView
 * @property {any} request  what the response depends on
 * @property {string} what  is computed, for whoever waits
 * @property {string} [path]  of the call, to show how far it is
 * @property {number} [height]
 * @property {(signal: AbortSignal) => Promise<any>} load
 * @property {(response: any) => any} show
 * @property {(problem: any) => any} [fail]
 */

/** @param {HTMLElement} box  where waiting and errors stand */
export function latestRequest(box) {
    let work = null,
        sent = null,
        response = null;
    /** @type {RequestView} */
    let latest = /** @type {any} */ (null);

    /**
     * @param {RequestView} view
     * @returns {boolean} whether the request is a new one
     */
    function send(view) {
        const request = JSON.stringify(view.request);
        latest = view;
        if (request === sent) {
            if (response) drawn(box, () => view.show(response.value));
            return false;
        }
        work?.abort();
        sent = request;
        response = null;
        work = loading(box, {
            what: view.what,
            path: view.path,
            height: view.height,
            load: view.load,
            show: (value) => {
                response = { value };
                return latest.show(value);
            },
            fail: (problem) => {
                sent = null;
                latest.fail?.(problem);
            },
            retry: () => {
                sent = null;
                send(latest);
            },
        });
        return true;
    }

    /** Cancels the request; the same one is sent again when it is needed. */
    function close() {
        work?.abort();
        sent = response = null;
    }

    return { send, close };
}
