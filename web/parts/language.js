/* language.js - the words of the expression language as the server publishes them, and the call that a caret is in. */

import { get } from '../api.js';
import { TOKEN } from './narrow.js';

/**
 * @typedef {{name: string, kind: 'scalar'|'aggregate'|'method'|'text_method'|'keyword', signature: string,
 *   text: string, options?: string[]}} Word
 */

/** @type {Promise<Word[]>|null} */
let asked = null;

/** All words, asked once. @returns {Promise<Word[]>} */
export function language() {
    asked ??= get('language').then(
        ({ functions, keywords }) => [...functions, ...keywords.map((word) => ({ ...word, kind: 'keyword' }))],
        () => {
            asked = null;
            return [];
        },
    );
    return asked;
}

/**
 * What is typed to call a word: up to where its first argument begins.
 * @param {Word} word
 */
export function opening({ name, kind, signature }) {
    if (kind === 'keyword') return name;
    const [, begin] = /\((\[.*\.\.|"|\)|)/.exec(signature) ?? ['', ''];
    return name + (begin.startsWith('[') ? '([' : `(${begin}`);
}

/**
 * The innermost call around the end of a text, and which of its arguments stands there.
 * @param {string} before  the expression up to the caret
 * @param {Word[]} words
 * @returns {{word: Word, argument: number}|null}
 */
export function callAround(before, words) {
    const open = [];
    let last = ['', '', ''];
    for (const [token] of before.matchAll(TOKEN)) {
        if (token === '(' || token === '[') open.push({ path: token === '(' ? last.join('') : '', argument: 0 });
        else if (token === ')' || token === ']') open.pop();
        else if (token === ',' && open.length > 0) open[open.length - 1].argument++;
        last = [last[1], last[2], token];
    }
    for (const { path, argument } of open.reverse()) {
        const [, owner, name] = /(str\.|\.)?(\w+)$/.exec(path) ?? [];
        const kinds = owner === 'str.' ? ['text_method'] : owner ? ['method'] : ['scalar', 'aggregate'];
        const word = words.find((one) => one.name === name && kinds.includes(one.kind));
        if (word) return { word, argument };
    }
    return null;
}

/**
 * A signature in three parts: before the argument, the argument, behind it.
 * @param {{word: Word, argument: number}} call
 * @returns {[string, string, string]}
 */
export function signatureParts({ word, argument }) {
    const { signature } = word,
        from = signature.lastIndexOf(`${word.name}(`) + word.name.length + 1;
    const more = (word.options ?? []).map((option) => `, ${option}=`).join('');
    const inside = signature.slice(from, -1),
        parts = inside.split(',');
    const at = Math.min(argument, parts.length - 1),
        start = from + parts.slice(0, at).join(',').length + (at > 0 ? 1 : 0);
    return [signature.slice(0, start), parts[at], signature.slice(start + parts[at].length, -1) + more + ')'];
}
