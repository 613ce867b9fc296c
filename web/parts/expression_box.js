/* expression_box.js - where an expression is typed, and the server's complaint about it.
 *
 * It is a plain field until somebody goes into it or it is complained about; then CodeMirror takes its place
 * (expression_editor.js): a page has up to seven of these, and none should cost it anything before it is used.  Where
 * the dashboard was built without npm, it stays a plain field. */

import { fill, h } from '../dom.js';
import { remember } from './history.js';

/**
 * @typedef {Object} ExpressionBox
 * @property {HTMLElement} element
 * @property {(words: string) => void} update  shows an expression, unless one is being typed
 * @property {(words: string) => void} setPlaceholder
 * @property {(problem: {message: string, position?: number}) => void} mark
 * @property {() => void} clear  of the complaint
 * @property {() => void} close
 *
 * @typedef {Object} BoxOptions
 * @property {string} id
 * @property {string} label
 * @property {string} placeholder
 * @property {() => import('./completion.js').Asked|null} trace
 * @property {(words: string) => void} onApply
 * @property {string} [history]  name of the list of what was applied
 * @property {string} [key]  shown inside, focuses the box
 * @property {boolean} [aggregates]
 * @property {() => string[]} [names]  derived columns
 *
 * @typedef {Object} Field  what is typed into: a plain field, or the editor
 * @property {HTMLElement} element
 * @property {() => string} words
 * @property {() => {anchor: number, head: number}} selection
 * @property {(words: string) => void} write
 * @property {() => boolean} focused
 * @property {(position: number|null) => void} point  at the code point at fault; null: at none
 * @property {(words: string) => void} setPlaceholder
 * @property {() => void} close
 * @property {() => void} [focus]
 */

/**
 * @param {BoxOptions} options
 * @returns {ExpressionBox}
 */
export function expressionBox(options) {
    const { id, key, history = 'filter' } = options;
    const complaint = h('p', { id: `${id}-problem`, class: 'filter-problem', role: 'alert' });
    let applied = '',
        shown = options.placeholder,
        at = /** @type {number|null} */ (null),
        upgraded = false,
        closed = false;

    const hands = {
        describedBy: complaint.id,
        applied: () => applied,
        apply() {
            const words = field.words().trim();
            if (words === applied) return;
            applied = words;
            remember(history, words);
            options.onApply(words);
        },
        upgrade,
    };
    let field = plainField(options, hands);
    const element = h(
        'div',
        { class: 'filter' },
        field.element,
        key && h('kbd', { class: 'filter-key', 'aria-hidden': 'true' }, key),
        complaint,
    );

    async function upgrade() {
        if (upgraded) return;
        upgraded = true;
        const codemirror = await import('../vendor/codemirror.js').catch(() => ({ missing: true }));
        if ('missing' in codemirror || closed) return;
        const { expressionEditor } = await import('./expression_editor.js');
        if (closed) return;
        const plain = field,
            focused = plain.focused();
        field = expressionEditor(codemirror, { ...options, placeholder: shown, history }, hands, {
            words: plain.words(),
            selection: plain.selection(),
        });
        plain.close();
        plain.element.replaceWith(field.element);
        if (focused) field.focus?.();
        field.point(at);
    }

    return {
        element,
        update(words) {
            if (field.focused() && words === applied) return;
            applied = words;
            if (field.words() !== words) field.write(words);
        },
        setPlaceholder(words) {
            shown = words;
            field.setPlaceholder(words);
        },
        mark({ message, position }) {
            fill(complaint, message);
            at = Number.isInteger(position) ? /** @type {number} */ (position) : -1;
            field.point(at);
            upgrade();
        },
        clear() {
            fill(complaint);
            at = null;
            field.point(null);
        },
        close() {
            closed = true;
            field.close();
        },
    };
}

/** @returns {Field} */
function plainField({ id, label, placeholder }, { describedBy, apply, applied, upgrade }) {
    let open = true;
    const input = h('input', {
        id,
        type: 'text',
        class: 'expression',
        placeholder,
        autocomplete: 'off',
        spellcheck: 'false',
        autocapitalize: 'off',
        'aria-label': label,
        'aria-describedby': describedBy,
        onfocus: upgrade,
        onblur: () => {
            if (open) apply();
        },
        onkeydown: (event) => {
            if (event.key === 'Enter') apply();
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            input.value = applied();
            input.blur();
        },
    });
    return {
        element: input,
        words: () => input.value,
        selection: () => ({ anchor: input.selectionStart ?? 0, head: input.selectionEnd ?? 0 }),
        write(words) {
            input.value = words;
        },
        focused: () => document.activeElement === input,
        point(position) {
            if (position === null) input.removeAttribute('aria-invalid');
            else input.setAttribute('aria-invalid', 'true');
        },
        setPlaceholder(words) {
            input.placeholder = words;
        },
        close() {
            open = false;
        },
    };
}
