/* query_text.js - a list of expressions in one line, "time = sum(time), count()", and where in it each of them begins.
 * */

import { TOKEN } from './narrow.js';

/**
 * @typedef {Object} Item
 * @property {string|null} name  before the =
 * @property {string} expression
 * @property {number} start  of the expression, in code points
 */

/**
 * @param {string} words
 * @returns {Item[]}
 */
export function listed(words) {
    const found = [];
    let depth = 0,
        start = 0;
    const take = (end) => {
        if (words.slice(start, end).trim()) found.push(itemOf(words, start, end));
    };
    for (const { 0: token, index } of words.matchAll(TOKEN)) {
        if (token === '(' || token === '[') depth++;
        else if (token === ')' || token === ']') depth--;
        else if (depth === 0 && token === ',') {
            take(index);
            start = index + 1;
        }
    }
    take(words.length);
    return found;
}

function itemOf(words, from, to) {
    const [lead, plain, quoted] = /** @type {RegExpExecArray} */ (
        /^\s*(?:(?:([A-Za-z_]\w*)|`([^`]*)`)\s*=(?!=)\s*)?/.exec(words.slice(from, to))
    );
    const start = from + lead.length;
    return {
        name: plain ?? quoted ?? null,
        expression: words.slice(start, to).trim(),
        start: [...words.slice(0, start)].length,
    };
}

/** What an item is called in the answer. */
export function nameOf({ name, expression }) {
    return name ?? expression;
}

/**
 * The reverse.
 * @param {[name: string, expression: string][]} pairs
 */
export function lineOf(pairs) {
    return pairs
        .map(([name, expression]) =>
            name === expression ? expression : `${/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``} = ${expression}`,
        )
        .join(', ');
}

/** A column as an expression names it. */
export function written(name) {
    return /^(args\.)?[A-Za-z_]\w*$/.test(name)
        ? name
        : name.startsWith('args.')
          ? `args.\`${name.slice(5)}\``
          : `\`${name}\``;
}
