/* report.js - what became of every line: the ledger as a flow, the files, and the lines that could not be read. */

import { getOf } from '../api.js';
import { fill, h, setStyle } from '../dom.js';
import { grouped, plural, text, value } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { copyMenu } from '../parts/copy.js';
import { piecesOf } from '../parts/ledger.js';
import { scrolling, sorted, table } from '../parts/table.js';
import { tracePage } from '../parts/trace_page.js';
import { go } from '../state.js';

export const title = 'Trace quality';

/* What a line can be, in the order of the flow; `bad`: to be checked. */
const KINDS = [
    { kind: 'events', words: 'complete events', color: 'var(--layer-1)' },
    { kind: 'metadata', words: 'names of files, hosts and processes', color: 'var(--layer-6)' },
    { kind: 'counters', words: 'counters', color: 'var(--layer-5)' },
    { kind: 'other', words: 'valid objects of other kinds', color: 'var(--layer-7)' },
    { kind: 'framing', words: 'brackets around the list', color: 'var(--line-strong)' },
    { kind: 'blank', words: 'empty lines', color: 'var(--line)' },
    { kind: 'malformed', words: 'lines that are no valid JSON object', color: 'var(--bad)', bad: true },
];

/* The same of records of DASF. */
const RECORD_WORDS = {
    events: 'Compute records: tasks',
    counters: 'samples of memory and resources',
    other: 'valid records that no table reads',
    malformed: 'records that are damaged',
};

const capital = (word) => word[0].toUpperCase() + word.slice(1);

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, reportPicture, { bar: false, ofNone: () => true, renews: true });
}

function reportPicture(trace) {
    const box = h('div', { class: 'stack' });
    const reading = latestRequest(box);

    function update(place) {
        reading.send({
            request: 'report',
            what: 'Reading the ledger',
            height: 480,
            load: (signal) => getOf(trace, `traces/${trace.id}/report`, {}, signal),
            show: (report) => draw(report, place),
        });
    }

    function draw(report, place) {
        fill(
            box,
            flowCard(report, trace),
            presetCard(report),
            linesCard(trace, 'Malformed', report.malformed, report.totals.malformed),
            linesCard(trace, 'Repaired', report.repaired, report.totals.repaired),
            namesCard(report),
            doubtsCard(report),
            filesCard(report, trace, place.sort),
        );
    }

    return { boxes: [box], update, close: reading.close };
}

function card(name, note, ...children) {
    return h(
        'section',
        { class: 'card', 'aria-label': name },
        h('header', { class: 'card-head' }, h('h2', {}, name), note && h('small', {}, note)),
        children,
    );
}

/** One bar as long as all lines, cut by kind, and the sum written out. */
function flowCard({ totals }, trace) {
    const kinds = KINDS.filter(({ kind }) => totals[kind] > 0 || kind === 'events' || kind === 'malformed');
    const segment = ({ kind, color }) => {
        const element = h('span', { class: 'segment', title: `${grouped(totals[kind])} ${kind}` });
        setStyle(element, { '--share': totals.lines ? totals[kind] / totals.lines : 0, '--color': color });
        return element;
    };
    const records = trace.kind === 'dasf';
    const row = ({ kind, words, color, bad = false }) => {
        const mark = h('span', { class: 'swatch' });
        setStyle(mark, { '--color': color });
        return h(
            'li',
            {},
            mark,
            h('strong', { class: bad && totals[kind] > 0 ? 'bad-text' : null }, grouped(totals[kind])),
            h('span', { class: 'name' }, kind),
            h('span', { class: 'kind words' }, (records && RECORD_WORDS[kind]) || words),
        );
    };
    const section = card(
        capital(piecesOf(trace)),
        `${text(totals.bytes, 'B')} in ${plural(totals.files, 'file')}` +
            (records ? '' : `, ${text(totals.json_bytes, 'B')} of JSON`),
        h('p', { class: 'answer' }, verdict(totals, piecesOf(trace))),
        h(
            'div',
            {
                class: 'breakdown-bar',
                role: 'img',
                'aria-label': kinds.map(({ kind }) => `${grouped(totals[kind])} ${kind}`).join(', '),
            },
            kinds.filter(({ kind }) => totals[kind] > 0).map(segment),
        ),
        h('ul', { class: 'breakdown-legend counted' }, kinds.map(row)),
    );
    section
        .querySelector('header')
        ?.append(h('div', { class: 'card-tools' }, copyMenu(`traces/${trace.id}/report`, {}, null)));
    return section;
}

function verdict(totals, pieces) {
    const { lines: all, framing, blank } = totals,
        lines = [
            h('strong', {}, grouped(all)),
            ` ${pieces} were read`,
            framing + blank > 0 && `, ${grouped(all - framing - blank)} of them objects`,
        ];
    if (totals.malformed === 0)
        return [
            lines,
            '; none was lost',
            totals.repaired > 0 && `, ${grouped(totals.repaired)} had to be repaired`,
            '.',
        ];
    return [lines, '; ', h('strong', {}, grouped(totals.malformed)), ' could not be understood.'];
}

/** What each preset's dropping filters leave. */
function presetCard({ presets }) {
    const rows = Object.entries(presets).map(([name, counts]) => ({ name, ...counts }));
    const columns = [
        { key: 'name', label: 'Preset', class: 'head' },
        { key: 'kept', label: 'Kept', unit: 'count' },
        {
            key: 'dropped_by_file',
            label: 'Dropped by file',
            unit: 'count',
            title: 'Events on files that say nothing about the job, such as /proc or Python packages',
        },
        {
            key: 'dropped_by_function',
            label: 'Dropped by function',
            unit: 'count',
            title: 'Events of functions that only enclose others',
        },
    ];
    return card(
        'Filters of the presets',
        'kept + dropped = events',
        h('div', { class: 'scroll' }, table({ columns, rows, caption: 'Filters of the presets', class: 'compact' })),
    );
}

const LINE_COLUMNS = [
    { key: 'file', label: 'File', class: 'head name' },
    { key: 'line', label: 'Line', unit: 'count' },
    { key: 'offset', label: 'Byte', unit: 'count', title: 'Offset in the decompressed file' },
    { key: 'reason', label: 'Reason' },
    { key: 'text', label: 'Text', cell: (row) => h('code', { class: 'line-text', title: row.text }, row.text) },
];

function linesCard(trace, which, rows, total) {
    if (total === 0) return null;
    const name = `${which} ${piecesOf(trace)}`;
    const columns = LINE_COLUMNS.map((column) =>
        column.key === 'line' && trace.kind === 'dasf' ? { ...column, label: 'Record' } : column,
    );
    const note = rows.length < total ? `the first ${grouped(rows.length)} of ${grouped(total)}` : null;
    return card(name, note, scrolling(name, table({ columns, rows, caption: name })));
}

/** Names that stayed open: hashes without a definition, functions without a class. */
function namesCard({ unresolved, unclassified }) {
    const { file_hashes: files, host_hashes: hosts } = unresolved;
    if (files + hosts + unclassified.length === 0) return null;
    const columns = [
        { key: 'func_name', label: 'Function', class: 'head name' },
        { key: 'count', label: 'Calls', unit: 'count' },
    ];
    return card(
        'Names',
        null,
        files + hosts > 0 &&
            h(
                'p',
                { class: 'notice warn' },
                'Events use ',
                [
                    files > 0 && plural(files, 'file hash', 'file hashes'),
                    hosts > 0 && plural(hosts, 'host hash', 'host hashes'),
                ]
                    .filter(Boolean)
                    .join(' and '),
                ' that no line defines; their names are missing.',
            ),
        unclassified.length > 0 && [
            h(
                'p',
                { class: 'hint' },
                'POSIX and STDIO functions that are neither reads, writes nor any other known class: their bytes are counted nowhere. config/functions.yaml says what each function is.',
            ),
            h(
                'div',
                { class: 'scroll' },
                table({ columns, rows: unclassified, caption: 'Functions without a class', class: 'compact' }),
            ),
        ],
    );
}

/** Hashes that files of the trace define differently, and sizes that cannot be. */
function doubtsCard({ conflicting_hashes: hashes, ambiguous_events: events, conflicts, doubtful_sizes: sizes }) {
    if (hashes + sizes === 0) return null;
    const rows = conflicts.flatMap(({ of, hash, definitions }) =>
        definitions.map(({ text, file }) => ({ of, hash, text, file })),
    );
    const columns = [
        { key: 'hash', label: 'Hash', class: 'head name' },
        { key: 'of', label: 'Of' },
        { key: 'text', label: 'Name' },
        { key: 'file', label: 'Defined in' },
    ];
    return card(
        'Doubtful',
        null,
        sizes > 0 &&
            h(
                'p',
                { class: 'notice warn' },
                `${plural(sizes, 'event has a size', 'events have a size')} past 2^53 bytes, which no file system transfers in one call.`,
            ),
        hashes > 0 && [
            h(
                'p',
                { class: 'hint' },
                `${plural(hashes, 'hash stands', 'hashes stand')} for different names in different files of the trace; an event takes the name that its own file defines. `,
                `${plural(events, 'event has', 'events have')} none there and take that of the first file.`,
            ),
            h(
                'div',
                { class: 'scroll' },
                table({ columns, rows, caption: 'Hashes with several names', class: 'compact' }),
            ),
        ],
    );
}

const FILE_COLUMNS = [
    { key: 'path', label: 'File', class: 'head name' },
    {
        key: 'state',
        label: 'State',
        cell: (file) => [
            h(
                'span',
                {
                    class: `badge ${{ complete: 'ready', truncated: 'stale', rejected: 'failed', vanished: 'failed', stale: 'stale' }[file.state]}`,
                },
                file.state,
            ),
            file.reason && h('p', { class: 'hint' }, file.reason),
        ],
    },
    { key: 'bytes', label: 'Size', unit: 'B' },
    { key: 'lines', label: 'Lines', unit: 'count' },
    { key: 'events', label: 'Events', unit: 'count' },
    {
        key: 'malformed',
        label: 'Malformed',
        class: 'number',
        cell: (file) =>
            h('span', { class: file.malformed > 0 ? 'bad-text' : 'quiet' }, value(file.malformed, 'count')),
    },
];
const MOST_FILES = 1000;

/** Of a live trace the bytes of a file are those that are complete: more may be there. */
function fileColumns(trace) {
    const labels = {
        bytes: trace.live ? 'Complete up to' : 'Size',
        lines: capital(piecesOf(trace)),
    };
    return FILE_COLUMNS.map((column) => ({ ...column, label: labels[column.key] ?? column.label }));
}

function filesCard({ files }, trace, sort) {
    const columns = fileColumns(trace);
    const rows = sort ? sorted(files, columns, sort) : files;
    const note = files.length > MOST_FILES ? `the first ${grouped(MOST_FILES)} of ${grouped(files.length)}` : null;
    return card(
        'Files',
        note,
        scrolling(
            'Files',
            table({
                columns,
                rows: rows.slice(0, MOST_FILES),
                caption: 'Files',
                sort,
                onSort: (next) => go({ sort: next }),
            }),
        ),
    );
}
