/* codemirror.js - the parts of CodeMirror that the editor of expressions uses. */

import { StyleModule } from 'style-mod';

export {
    acceptCompletion,
    autocompletion,
    completionKeymap,
    completionStatus,
    moveCompletionSelection,
    selectedCompletion,
    startCompletion,
} from '@codemirror/autocomplete';
export { history, historyKeymap, standardKeymap } from '@codemirror/commands';
export { Compartment, EditorState, StateEffect, StateField } from '@codemirror/state';
export { Decoration, EditorView, keymap, placeholder, showTooltip, WidgetType } from '@codemirror/view';

const mounted = new Set();

/* CodeMirror would write its rules into a <style>, which the Content-Security-Policy forbids; sheets that a script makes
 * are allowed. */
StyleModule.mount = (root, modules) => {
    for (const module of [modules].flat().filter((one) => !mounted.has(one))) {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(module.getRules());
        document.adoptedStyleSheets.push(sheet);
        mounted.add(module);
    }
};
