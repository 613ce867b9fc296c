/* expression_box.js - where expressions are typed: completion, what was typed before, what the call at the caret
 * takes, and the server's complaint under the character at fault. */

import { fill, h } from '../dom.js';
import { candidates } from './completion.js';
import { remember, remembered } from './history.js';
import { callAround, language, signatureParts } from './language.js';

const PAUSE_MS = 90;

/**
 * @typedef {Object} ExpressionBox
 * @property {HTMLElement} element
 * @property {HTMLInputElement} input
 * @property {(words: string) => void} update  shows an expression, unless one is being typed
 * @property {(problem: {message: string, position?: number}) => void} mark
 * @property {() => void} clear  of the complaint
 */

/**
 * @param {{id: string, label: string, placeholder: string, trace: () => import('./completion.js').Asked|null,
 *   onApply: (words: string) => void,
 *          history?: string, key?: string, aggregates?: boolean, names?: () => string[]}} options
 *   history: name of the list of what was applied; key: shown inside, focuses the box; names: derived columns
 * @returns {ExpressionBox}
 */
export function expressionBox({ id, label, placeholder, trace, onApply, history = 'filter', key, aggregates, names }) {
    const list = h('ul', {
        id: `${id}-list`,
        role: 'listbox',
        'aria-label': 'Completions',
        hidden: true,
    });
    const signature = h('p', { id: `${id}-signature`, class: 'signature', hidden: true }),
        hints = h('div', { class: 'completion', hidden: true }, signature, list);
    const complaint = h('p', { id: `${id}-problem`, class: 'filter-problem', role: 'alert' });
    const input = h('input', {
        id,
        type: 'text',
        class: 'expression',
        placeholder,
        autocomplete: 'off',
        spellcheck: 'false',
        autocapitalize: 'off',
        role: 'combobox',
        'aria-autocomplete': 'list',
        'aria-expanded': 'false',
        'aria-controls': list.id,
        'aria-describedby': `${complaint.id} ${signature.id}`,
        oninput: () => {
            suggest();
            explain();
        },
        onkeyup: () => explain(),
        onclick: () => explain(),
        onkeydown: (event) => onKey(event),
        onblur: () => {
            close();
            explain();
            apply();
        },
    });
    const element = h(
        'div',
        { class: 'filter' },
        h('label', { class: 'visually-hidden', for: id }, label),
        input,
        key && h('kbd', { class: 'filter-key', 'aria-hidden': 'true' }, key),
        hints,
        complaint,
    );
    let applied = '',
        from = 0,
        items = [],
        chosen = -1,
        timer = 0,
        asking = null;

    function apply() {
        const words = input.value.trim();
        if (words === applied) return;
        applied = words;
        remember(history, words);
        onApply(words);
    }

    function suggest() {
        clearTimeout(timer);
        asking?.abort();
        const before = input.value.slice(0, input.selectionStart ?? 0),
            about = trace();
        if (
            !about ||
            /^\s*$/.test(before) ||
            (/[\w"'`)\]]\s+$/.test(before) && !/\b(and|or|not|in)\s+$/.test(before))
        ) {
            close();
            return;
        }
        asking = new AbortController();
        const { signal } = asking;
        timer = setTimeout(
            () =>
                candidates(before, about, { aggregates, names: names?.() }, signal).then(
                    (found) => {
                        if (!signal.aborted && document.activeElement === input) offer(found);
                    },
                    () => close(),
                ),
            PAUSE_MS,
        );
    }

    function offer(found) {
        ({ from, items } = found);
        chosen = -1;
        fill(
            list,
            items.map((item, index) =>
                h(
                    'li',
                    {
                        id: `${id}-${index}`,
                        role: 'option',
                        'aria-selected': 'false',
                        onmousedown: (event) => {
                            event.preventDefault();
                            take(index);
                        },
                    },
                    h('code', {}, item.text),
                    item.note && h('small', {}, item.note),
                ),
            ),
        );
        list.hidden = items.length === 0;
        hints.hidden = list.hidden && signature.hidden;
        input.setAttribute('aria-expanded', String(items.length > 0));
    }

    /** What the call takes that the caret is in, with the argument that stands there. */
    async function explain() {
        const words = document.activeElement === input ? await language() : [];
        const call = callAround(input.value.slice(0, input.selectionStart ?? 0), words);
        signature.hidden = !call || document.activeElement !== input;
        hints.hidden = list.hidden && signature.hidden;
        if (!call) return;
        const [before, argument, behind] = signatureParts(call);
        fill(signature, h('code', {}, before, h('strong', {}, argument), behind), h('small', {}, call.word.text));
    }

    function close() {
        clearTimeout(timer);
        asking?.abort();
        offer({ from: 0, items: [] });
        input.removeAttribute('aria-activedescendant');
    }

    function choose(index) {
        const all = [...list.children];
        all[chosen]?.setAttribute('aria-selected', 'false');
        chosen = (index + all.length) % all.length;
        all[chosen].setAttribute('aria-selected', 'true');
        all[chosen].scrollIntoView({ block: 'nearest' });
        input.setAttribute('aria-activedescendant', all[chosen].id);
    }

    /** What was typed gives way to a candidate; a closing quote or bracket is not doubled. */
    function take(index) {
        const { text } = items[index];
        const after = input.value.slice(input.selectionStart ?? 0).replace(text.endsWith('"') ? /^"/ : /^$/, '');
        input.setRangeText(text + after, from, input.value.length, 'end');
        const caret = from + text.length;
        input.setSelectionRange(caret, caret);
        close();
        if (/[.("[]$/.test(text)) suggest();
    }

    function onKey(event) {
        const open = !list.hidden;
        if (event.key === 'Enter') {
            event.preventDefault();
            if (open && chosen >= 0) take(chosen);
            else {
                close();
                apply();
            }
        } else if (event.key === 'Escape') {
            if (open) {
                event.stopPropagation();
                close();
            } else {
                event.stopPropagation();
                input.value = applied;
                input.blur();
            }
        } else if (event.key === 'Tab' && open && chosen >= 0) {
            event.preventDefault();
            take(chosen);
        } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            if (open) choose(chosen + (event.key === 'ArrowDown' ? 1 : chosen < 0 ? 0 : -1));
            else if (input.value === '' || input.value === applied) recall();
            else suggest();
        }
    }

    function recall() {
        offer({
            from: 0,
            items: remembered(history)
                .filter((words) => words !== applied)
                .map((words) => ({ text: words, note: 'used before' })),
        });
    }

    /**
     * The mark goes by code points, and stays under its character while the text is scrolled.
     * @type {ExpressionBox['mark']}
     */
    function mark({ message, position }) {
        input.setAttribute('aria-invalid', 'true');
        const at =
            Number.isInteger(position) &&
            h(
                'span',
                { class: 'caret', 'aria-hidden': 'true' },
                [...input.value]
                    .slice(0, position)
                    .map(() => '\u2007')
                    .join(''),
                '^',
            );
        fill(complaint, at, h('span', {}, message));
        if (!at) return;
        const follow = () => {
            at.style.setProperty('transform', `translateX(${-input.scrollLeft}px)`);
        };
        input.onscroll = follow;
        follow();
    }

    function clear() {
        input.removeAttribute('aria-invalid');
        input.onscroll = null;
        fill(complaint);
    }

    return {
        element,
        input,
        mark,
        clear,
        update(words) {
            if (document.activeElement === input && words === applied) return;
            applied = words;
            input.value = words;
        },
    };
}
