/* menu.js - a button that opens a short list of actions: arrows move, Enter acts, Esc closes. */

import { h, icon } from '../dom.js';

/**
 * @typedef {import('../dom.js').IconName} IconName
 * @typedef {{text: string, icon?: IconName, danger?: boolean, href?: string, download?: string, action?: () =>
 *   void}} Item
 * @param {{label: string, icon?: IconName, text?: string, items: Item[]}} options
 */
export function menu({ label, icon: sign, text, items }) {
    const list = h(
        'div',
        { class: 'menu', role: 'menu', popover: 'auto' },
        items.map((item) => entry(item, close)),
    );
    const button = h(
        'button',
        {
            class: 'button small' + (text ? '' : ' icon-only'),
            'aria-label': text ? null : label,
            title: label,
            'aria-haspopup': 'menu',
            'aria-expanded': 'false',
            onclick: () => list.togglePopover(),
        },
        sign && icon(sign),
        text,
    );
    list.addEventListener('toggle', (event) => {
        const open = event.newState === 'open';
        button.setAttribute('aria-expanded', String(open));
        if (open) {
            placeBelow(list, button);
            /** @type {HTMLElement} */ (list.firstElementChild).focus();
        }
    });
    list.addEventListener('keydown', (event) => move(event, list));

    function close() {
        list.hidePopover();
        button.focus();
    }
    return h('span', { class: 'menu-anchor' }, button, list);
}

function entry(item, close) {
    const content = [item.icon && icon(item.icon), item.text];
    if (item.href)
        return h('a', { role: 'menuitem', href: item.href, download: item.download, onclick: close }, content);
    return h(
        'button',
        {
            role: 'menuitem',
            class: item.danger ? 'danger' : '',
            onclick: () => {
                close();
                item.action();
            },
        },
        content,
    );
}

/** Below the button, right edges aligned, kept inside the window. */
export function placeBelow(list, button) {
    const at = button.getBoundingClientRect();
    const below = at.bottom + 4 + list.offsetHeight < window.innerHeight;
    list.style.setProperty('left', `${Math.max(8, at.right - list.offsetWidth)}px`);
    list.style.setProperty('top', `${below ? at.bottom + 4 : Math.max(8, at.top - 4 - list.offsetHeight)}px`);
}

function move(event, list) {
    const items = [...list.children];
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    items[(to + items.length) % items.length].focus();
}
