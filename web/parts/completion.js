/* completion.js - what could stand at the caret of an expression: columns, functions, methods, and the values of a
 * column. */

import { get } from '../api.js';
import { grouped, text } from '../format.js';
import { language, opening } from './language.js';
import { literal } from './narrow.js';

const MOST = 12;

/**
 * @typedef {{text: string, note?: string}} Candidate  text: what takes the place of what was typed
 * @typedef {{from: number, items: Candidate[]}} Candidates  from: where that begins
 * @typedef {{name: string, type: string, note: string, most?: string}} Known  most: the most frequent value
 * @typedef {{id: string, answers: string, seenWith?: string}} Asked  seenWith: the preset whose categories the
 *   events have
 */

/** The columns of a trace, asked once while they stay the same. */
const schemas = new Map();

/**
 * @param {{id: string, answers: string}} trace
 * @returns {Promise<Known[]>}
 */
export function schemaOf(trace) {
    const key = `${trace.id} ${trace.answers}`;
    if (!schemas.has(key)) {
        schemas.clear();
        schemas.set(
            key,
            get(`traces/${trace.id}/columns`).then(
                ({ columns, data }) => {
                    const at = (row, name) => row[columns.indexOf(name)];
                    return data.map((row) => ({
                        name: at(row, 'name'),
                        type: at(row, 'type'),
                        most: at(row, 'top')?.[0]?.value,
                        note: noteOf(at(row, 'type'), at(row, 'unit'), at(row, 'missing_share')),
                    }));
                },
                () => {
                    schemas.clear();
                    return [];
                },
            ),
        );
    }
    return schemas.get(key);
}

/** An example of a filter, with the trace's most frequent category. */
export async function exampleOf(trace) {
    const known = (await schemaOf(trace)).find(({ name }) => name === 'cat');
    return `Filter events, such as cat == "${known?.most ?? 'posix'}" and time > 0.001`;
}

function noteOf(type, unit, missing) {
    return [type, unit, missing > 0 && `${text(missing, 'share')} missing`].filter(Boolean).join(', ');
}

const NAME = '(?:args\\.)?(?:[A-Za-z_]\\w*|`[^`]+`)';
const COMPARED = new RegExp(
    `(${NAME})\\s*(?:[=!]=|(?:\\bnot\\s+)?\\bin\\s*[[(][^\\])]*|\\.isin\\s*\\(\\s*[[(]?[^\\])]*|\\.str\\.startswith\\()\\s*$`,
);
const OPEN_STRING = /^(?:[^"'`]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)*(["'])((?:\\.|(?!\1).)*)$/s;

/**
 * @param {string} before  the expression up to the caret
 * @param {Asked} trace
 * @param {{aggregates?: boolean, names?: string[]}} options  names: derived ones
 * @param {AbortSignal} signal
 * @returns {Promise<Candidates>}
 */
export async function candidates(before, trace, { aggregates = false, names = [] }, signal) {
    const [known, spoken] = await Promise.all([schemaOf(trace), language()]);
    const open = OPEN_STRING.exec(before);
    if (open) {
        const from = before.length - open[2].length - 1;
        const column = COMPARED.exec(before.slice(0, from))?.[1];
        return { from, items: column ? await values(column, open[2], known, trace, signal) : [] };
    }
    const compared = /[\s=([,]$/.test(before) ? COMPARED.exec(before)?.[1] : null;
    if (compared) return { from: before.length, items: await values(compared, '', known, trace, signal) };
    return words(before, { known, spoken, names, kinds: ['scalar', 'keyword', ...(aggregates ? ['aggregate'] : [])] });
}

async function values(column, prefix, known, trace, signal) {
    if (!known.some((one) => one.name === column)) return [];
    const answer = await get(
        `traces/${trace.id}/columns/${encodeURIComponent(column)}/values`,
        { prefix, limit: MOST, preset: trace.seenWith },
        signal,
    );
    return answer.data.map(([value, count]) => ({ text: literal(value), note: grouped(count) }));
}

function words(before, { known, spoken, names, kinds }) {
    const calls = (/** @type {string[]} */ ...wanted) =>
        wanted.flatMap((kind) => spoken.filter((word) => word.kind === kind)).map(called);
    const typed = /(?:args\.)?`?[A-Za-z_]\w*$/.exec(before)?.[0] ?? '';
    const member = /(\.str)?\.(\w*)$/.exec(before);
    const owner = member && before.slice(0, member.index);
    if (member && /[\w`)"'\]]$/.test(owner) && !/(^|\W)args$/.test(owner)) {
        const offered = member[1] ? calls('text_method') : [{ text: 'str.' }, ...calls('method')];
        return { from: before.length - member[2].length, items: starting(offered, member[2]) };
    }
    const all = [
        ...names.map((name) => ({ text: name, note: 'derived' })),
        ...known.map(({ name, note }) => ({ text: name, note })),
        ...calls(...kinds.reverse()),
    ];
    return { from: before.length - typed.length, items: starting(all, typed) };
}

/** @param {import('./language.js').Word} word */
function called(word) {
    return { text: opening(word), note: word.signature };
}

/** Those that begin as typed come first, then those that hold it. */
function starting(items, typed) {
    const lower = typed.toLowerCase();
    if (lower === '') return items.slice(0, MOST);
    const at = ({ text }) => text.toLowerCase().indexOf(lower);
    return items
        .filter((item) => at(item) >= 0 && item.text !== typed)
        .sort((a, b) => Math.min(at(a), 1) - Math.min(at(b), 1))
        .slice(0, MOST);
}
