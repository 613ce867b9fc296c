/* dialog.js - modal dialogs: the browser's own <dialog> keeps the focus inside and gives it back. */

import { h, icon } from '../dom.js';

/**
 * Opens a dialog; it removes itself when closed (by its cross, Esc, or close()).
 * @param {{title: string, body: any, buttons?: any[], wide?: boolean, onClose?: () => void}} options
 * @returns {HTMLDialogElement}
 */
export function openDialog({ title, body, buttons = [], wide = false, onClose }) {
    const cross = h(
        'button',
        { class: 'button icon-only', 'aria-label': 'Close', onclick: () => dialog.close() },
        icon('close'),
    );
    const dialog = h(
        'dialog',
        { class: wide ? 'wide' : '', 'aria-label': title },
        h('header', {}, h('h2', {}, title), cross),
        h('div', { class: 'dialog-body' }, body),
        buttons.length > 0 && h('footer', {}, buttons),
    );
    dialog.addEventListener('close', () => {
        dialog.remove();
        onClose?.();
    });
    dialog.addEventListener('mousedown', (event) => {
        if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

/**
 * Asks before something that cannot be undone.
 * @param {{title: string, body: any, action: string}} options
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, body, action }) {
    return new Promise((resolve) => {
        let answer = false;
        const end = (yes) => () => {
            answer = yes;
            dialog.close();
        };
        const buttons = [
            h('button', { class: 'button', onclick: end(false), autofocus: true }, 'Cancel'),
            h('button', { class: 'button danger', onclick: end(true) }, action),
        ];
        const dialog = openDialog({ title, body, buttons, onClose: () => resolve(answer) });
    });
}

/**
 * A small form; its first field has the focus, Enter confirms.
 * @param {{title: string, action: string,
 *          fields: {name: string, label: string, value: string, hint?: string, required?: boolean}[]}} options
 * @returns {Promise<Object<string, string>|null>}  the values, or null when it was closed
 */
export function asked({ title, action, fields }) {
    return new Promise((resolve) => {
        let answer = null;
        const form = h(
            'form',
            {
                class: 'fields',
                id: 'asked',
                onsubmit: (event) => {
                    event.preventDefault();
                    answer = Object.fromEntries(new FormData(event.target));
                    dialog.close();
                },
            },
            fields.map((field, index) =>
                h(
                    'label',
                    {},
                    h('span', {}, field.label),
                    h('input', {
                        name: field.name,
                        value: field.value,
                        required: field.required,
                        autofocus: index === 0,
                        autocomplete: 'off',
                        spellcheck: 'false',
                    }),
                    field.hint && h('small', {}, field.hint),
                ),
            ),
        );
        const buttons = [
            h('button', { class: 'button', type: 'button', onclick: () => dialog.close() }, 'Cancel'),
            h('button', { class: 'button primary', type: 'submit', form: 'asked' }, action),
        ];
        const dialog = openDialog({ title, body: form, buttons, onClose: () => resolve(answer) });
    });
}
