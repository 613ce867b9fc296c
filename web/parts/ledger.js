/* ledger.js - what became of every line of a trace, in one sentence whose parts add up. */

import { h } from '../dom.js';
import { grouped, plural } from '../format.js';
import { copyMenu } from './copy.js';

const KINDS = ['events', 'metadata', 'counters', 'other', 'framing', 'blank', 'malformed'];

/** What the files of a trace consist of. */
export const piecesOf = (trace) => (trace.kind === 'dasf' ? 'records' : 'lines');

/**
 * @param {Object} totals  of the report
 * @param {{id: string, kind?: string}} trace
 */
export function ledgerLine(totals, trace) {
    const named = KINDS.filter((kind) => totals[kind] > 0 || kind === 'events' || kind === 'malformed');
    const part = (kind) =>
        h(
            'span',
            { class: kind === 'malformed' && totals.malformed > 0 ? 'bad-text' : null },
            `${grouped(totals[kind])} ${kind}`,
        );
    return h(
        'p',
        {},
        h(
            'span',
            {},
            h('strong', {}, grouped(totals.lines)),
            ` ${piecesOf(trace)} in ${plural(totals.files, 'file')} = `,
            named.map((kind, index) => [index > 0 && ' + ', part(kind)]),
            totals.repaired > 0 && `; ${grouped(totals.repaired)} of them repaired`,
        ),
        copyMenu(`traces/${trace.id}/report`, {}, null),
    );
}
