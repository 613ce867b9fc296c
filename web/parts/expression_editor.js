/* expression_editor.js - the editor of an expression, by CodeMirror: completion, what was typed before, what the call
 * at the caret takes, and a mark at what the server complains about. */

import { h } from '../dom.js';
import { candidates } from './completion.js';
import { remembered } from './history.js';
import { callAround, language, signatureParts } from './language.js';

const PAUSE_MS = 90;

/**
 * @param {any} codemirror  vendor/codemirror.js
 * @param {import('./expression_box.js').BoxOptions} options
 * @param {{describedBy: string, apply: () => void, applied: () => string}} hands
 * @param {{words: string, selection: {anchor: number, head: number}}} before  what the plain field had
 * @returns {import('./expression_box.js').Field}
 */
export function expressionEditor(codemirror, options, { describedBy, apply, applied }, before) {
    const { autocompletion, Compartment, EditorState, EditorView, history, placeholder } = codemirror;
    const hint = new Compartment(),
        fault = faultField(codemirror),
        signature = signatureField(codemirror, `${options.id}-signature`);
    const view = new EditorView({
        doc: before.words,
        selection: before.selection,
        extensions: [
            history(),
            keys(codemirror, { apply, applied }),
            autocompletion({
                override: [(context) => completions(codemirror, context, options, applied)],
                activateOnTypingDelay: PAUSE_MS,
                selectOnOpen: false,
                interactionDelay: 0 /* nothing is chosen by itself, so no key can take what was not seen */,
                icons: false,
            }),
            fault.field,
            signature.field,
            EditorView.domEventHandlers({ blur: apply }),
            EditorView.clipboardInputFilter.of(inOneLine),
            EditorState.transactionFilter.of((change) => (change.newDoc.lines > 1 ? [] : change)),
            hint.of(placeholder(options.placeholder)),
            EditorView.editorAttributes.of({ class: 'expression' }),
            EditorView.contentAttributes.of({
                id: options.id,
                'aria-label': options.label,
                'aria-describedby': describedBy,
                'aria-multiline': 'false',
            }),
        ],
    });
    let closed = false;
    language().then((words) => {
        if (!closed) view.dispatch({ effects: signature.words.of(words) });
    });

    return {
        element: view.dom,
        words: () => view.state.doc.toString(),
        selection: () => view.state.selection.main,
        write: (words) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: inOneLine(words) } }),
        focused: () => view.hasFocus,
        focus() {
            view.focus();
            if (before.words !== applied()) codemirror.startCompletion(view);
        },
        point(position) {
            if (position === null) view.contentDOM.removeAttribute('aria-invalid');
            else view.contentDOM.setAttribute('aria-invalid', 'true');
            view.dispatch({ effects: fault.set.of(position) });
        },
        setPlaceholder: (words) => view.dispatch({ effects: hint.reconfigure(placeholder(words)) }),
        close() {
            closed = true;
            view.destroy();
        },
    };
}

const inOneLine = (words) => words.replace(/\s*\n\s*/g, ' ');

/** Tab takes the first completion, or the chosen one; without a list it leaves the box.  While a list that is still
 * seen is being renewed, it does nothing. */
function takeCompletion({ acceptCompletion, completionStatus, moveCompletionSelection, selectedCompletion }, view) {
    if (completionStatus(view.state) !== 'active') return view.dom.querySelector('.cm-tooltip-autocomplete') !== null;
    if (!selectedCompletion(view.state)) moveCompletionSelection(true)(view);
    return acceptCompletion(view);
}

/** Enter applies, unless a completion is chosen; Esc closes the list, then gives up what was typed. */
function keys(codemirror, hands) {
    const { completionKeymap, historyKeymap, keymap, standardKeymap, startCompletion } = codemirror;
    const own = [
        { key: 'Tab', run: (view) => takeCompletion(codemirror, view) },
        {
            key: 'Enter',
            run() {
                hands.apply();
                return true;
            },
        },
        {
            key: 'Escape',
            stopPropagation: true,
            run(view) {
                view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: hands.applied() } });
                view.contentDOM.blur();
                return true;
            },
        },
        { key: 'ArrowDown', run: startCompletion },
    ];
    return keymap.of([...completionKeymap, ...own, ...historyKeymap, ...standardKeymap]);
}

/** What could stand at the caret; before anything is typed, what was applied before. */
async function completions(codemirror, context, options, applied) {
    const about = options.trace(),
        words = context.state.doc.toString(),
        before = words.slice(0, context.pos);
    if (context.explicit && (words === '' || words === applied())) return recalled(options.history, applied());
    const ended = /[\w"'`)\]]\s+$/.test(before) && !/\b(and|or|not|in)\s+$/.test(before);
    if (!about || (!context.explicit && (/^\s*$/.test(before) || ended))) return null;
    const stop = new AbortController();
    context.addEventListener('abort', () => stop.abort(), { onDocChange: true });
    const names = { aggregates: options.aggregates, names: options.names?.() ?? [] };
    /** @type {import('./completion.js').Candidates} */
    const { from, items } = await candidates(before, about, names, stop.signal).catch(() => ({ from: 0, items: [] }));
    const apply = (view, { label }, start, end) => take(codemirror, view, label, start, end);
    return {
        from,
        filter: false,
        options: items.map(({ text, note }) => ({ label: text, detail: note, apply })),
    };
}

function recalled(history, applied) {
    const apply = (view, { label }) =>
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: label } });
    return {
        from: 0,
        filter: false,
        options: remembered(history)
            .filter((words) => words !== applied)
            .map((words) => ({ label: words, detail: 'used before', apply })),
    };
}

/** What was typed gives way to a candidate; a closing quote is not doubled. */
function take({ startCompletion }, view, text, from, to) {
    const doubled = text.endsWith('"') && view.state.sliceDoc(to, to + 1) === '"';
    view.dispatch({
        changes: { from, to: doubled ? to + 1 : to, insert: text },
        selection: { anchor: from + text.length },
        userEvent: 'input.complete',
    });
    if (/[.("[]$/.test(text)) startCompletion(view);
}

/* ---- the call at the caret */

/** Seen while the editor has the focus, says the stylesheet. */
function signatureField({ showTooltip, StateEffect, StateField }, id) {
    const words = StateEffect.define();
    const tooltipOf = (known, state) => {
        const at = state.selection.main.head,
            call = callAround(state.sliceDoc(0, at), known);
        return call && { pos: at, above: true, create: () => ({ dom: explained(call, id) }) };
    };
    const field = StateField.define({
        create: () => ({ known: [], tooltip: null }),
        update(value, change) {
            const known = change.effects.find((effect) => effect.is(words))?.value ?? value.known;
            if (!change.docChanged && !change.selection && known === value.known) return value;
            return { known, tooltip: tooltipOf(known, change.state) };
        },
        provide: (own) => showTooltip.from(own, ({ tooltip }) => tooltip),
    });
    return { field, words };
}

function explained(call, id) {
    const [before, argument, behind] = signatureParts(call);
    return h(
        'p',
        { id, class: 'signature' },
        h('code', {}, before, h('strong', {}, argument), behind),
        h('small', {}, call.word.text),
    );
}

/* ---- what the server complains about */

function faultField({ Decoration, EditorView, StateEffect, StateField, WidgetType }) {
    class End extends WidgetType {
        toDOM() {
            return h('span', { class: 'fault end' });
        }
    }
    const set = StateEffect.define(),
        word = Decoration.mark({ class: 'fault' }),
        end = Decoration.widget({ widget: new End(), side: 1 });
    const marksOf = (words, position) => {
        if (position === null || position < 0) return Decoration.none;
        const from = [...words].slice(0, position).join('').length,
            length = /^(?:[\w.]+|"[^"]*"?|\S|\s+)/.exec(words.slice(from))?.[0].length;
        return Decoration.set([length ? word.range(from, from + length) : end.range(words.length)]);
    };
    const field = StateField.define({
        create: () => Decoration.none,
        update(marks, change) {
            const effect = change.effects.find((one) => one.is(set));
            return effect ? marksOf(change.state.doc.toString(), effect.value) : marks.map(change.changes);
        },
        provide: (own) => EditorView.decorations.from(own),
    });
    return { field, set };
}
