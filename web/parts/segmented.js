/* segmented.js - a few choices side by side, one of them pressed. */

import { h } from '../dom.js';

/**
 * @param {string} label  of the group, for screen readers
 * @param {[key: string, words: string, title?: string][]} options
 * @param {string} chosen  key
 * @param {(key: string) => void} onChoose
 * @param {string|null} [disabled]  key of what cannot be chosen now
 * @param {string} [why]  it cannot
 */
export function segmented(label, options, chosen, onChoose, disabled, why) {
    return h(
        'div',
        { class: 'segmented', role: 'group', 'aria-label': label },
        options.map(([key, words, title]) =>
            h(
                'button',
                {
                    type: 'button',
                    'aria-pressed': String(key === chosen),
                    disabled: key === disabled,
                    title: key === disabled ? why : title,
                    onclick: () => {
                        if (key !== chosen) onChoose(key);
                    },
                },
                words,
            ),
        ),
    );
}
