/* table.js - a table with sorting heads, numbers that line up, and rows that arrow keys walk. */

import { h, setStyle } from '../dom.js';
import { value } from '../format.js';

/**
 * @typedef {Object} Column
 * @property {string} key
 * @property {string} label
 * @property {string} [title]  what it means, on hover
 * @property {string} [unit]  a key of UNITS: the cell is this number, right-aligned
 * @property {(row: any) => any} [get]  the value; row[key] when left out
 * @property {(row: any) => any} [cell]  the content; the formatted value when left out
 * @property {(row: any) => number|null} [score]  0 .. 5, shown as the cell's colour
 * @property {boolean} [sortable]
 * @property {string} [class]
 * @property {string} [group]  for whoever makes the second head
 */

/**
 * @param {Object} options
 * @param {Column[]} options.columns
 * @param {any[]} options.rows  in the order to show them
 * @param {string} options.caption  for screen readers
 * @param {{label: any, span: number, title?: string}[]} [options.groups]  a second head above the first
 * @param {string} [options.sort]  key, with a leading - for descending
 * @param {(sort: string) => void} [options.onSort]
 * @param {(row: any, element: HTMLElement) => void} [options.decorate]  last touch to a row's element
 * @param {string} [options.class]
 */
export function table({ columns, rows, caption, groups, sort, onSort, decorate, class: name = '' }) {
    const body = h(
        'tbody',
        {},
        rows.map((row) => rowElement(columns, row, decorate)),
    );
    body.addEventListener('keydown', (event) => walk(event, body));
    const first = body.querySelector('tr');
    if (first) first.tabIndex = 0;
    return h(
        'table',
        { class: `table ${name}` },
        h('caption', { class: 'visually-hidden' }, caption),
        h(
            'thead',
            {},
            groups && groupRow(groups),
            h(
                'tr',
                {},
                columns.map((column) => headCell(column, sort, onSort)),
            ),
        ),
        body,
    );
}

export function groupRow(groups) {
    return h(
        'tr',
        { class: 'groups' },
        groups.map(({ label, span, title }) =>
            label
                ? h('th', { colspan: span, scope: 'colgroup', title, class: 'named' }, label)
                : h('td', { colspan: span }),
        ),
    );
}

export function headCell(column, sort, onSort) {
    const up = sort === column.key,
        down = sort === '-' + column.key;
    const attributes = {
        scope: 'col',
        title: column.title,
        class: classOf(column),
        'aria-sort': up ? 'ascending' : down ? 'descending' : null,
    };
    if (!column.label) return h('td', { class: classOf(column) }); /* a head without words is none */
    if (!onSort || column.sortable === false) return h('th', attributes, column.label);
    const next =
        column.unit || column.class === 'number'
            ? down
                ? column.key
                : '-' + column.key
            : up
              ? '-' + column.key
              : column.key;
    return h(
        'th',
        attributes,
        h(
            'button',
            { class: 'sort', onclick: () => onSort(next) },
            column.label,
            h('span', { class: 'arrow', 'aria-hidden': 'true' }, up ? '\u2191' : down ? '\u2193' : ''),
        ),
    );
}

function classOf(column) {
    return [column.unit && 'number', column.class].filter(Boolean).join(' ') || null;
}

function read(column, row) {
    return column.get ? column.get(row) : row[column.key];
}

export function rowElement(columns, row, decorate) {
    const element = h(
        'tr',
        { tabindex: -1 },
        columns.map((column) => {
            const content = column.cell
                ? column.cell(row)
                : column.unit
                  ? value(read(column, row), column.unit)
                  : read(column, row);
            return h(
                column.class === 'head' ? 'th' : 'td',
                {
                    class: classOf(column),
                    scope: column.class === 'head' ? 'row' : null,
                    data: { label: column.label, ...scoreOf(column, row) },
                },
                content,
            );
        }),
    );
    decorate?.(row, element);
    return element;
}

function scoreOf(column, row) {
    const score = column.score?.(row) ?? null;
    return score === null ? {} : { score };
}

/** Up, Down, Home and End move between rows; Enter does what a click on the row's first link or button does. */
function walk(event, body) {
    const row = /** @type {HTMLElement} */ (event.target);
    if (row.parentElement !== body) return;
    const rows = [...body.children];
    const at = rows.indexOf(row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined && rows[to]) {
        event.preventDefault();
        row.tabIndex = -1;
        rows[to].tabIndex = 0;
        rows[to].focus();
    } else if (event.key === 'Enter') {
        event.preventDefault();
        /** @type {HTMLElement|null} */ (row.querySelector('a, button'))?.click();
    }
}

const BY_NAME = new Intl.Collator(undefined, { numeric: true });

/** Rows ordered by a column's value; missing ones last, whichever way. */
export function sorted(rows, columns, sort) {
    const down = sort.startsWith('-');
    const column = columns.find((one) => one.key === sort.replace(/^-/, ''));
    if (!column) return rows;
    const none = (x) => x === null || x === undefined;
    const compare = (a, b) => (typeof a === 'string' ? BY_NAME.compare(a, b) : a - b);
    return [...rows].sort((left, right) => {
        const a = read(column, left),
            b = read(column, right);
        if (none(a) || none(b)) return Number(none(a)) - Number(none(b));
        return down ? compare(b, a) : compare(a, b);
    });
}

/** A column of a response, or null. */
export function columnOf(answer, name) {
    const index = answer.columns.indexOf(name);
    return index < 0 ? null : answer.data.map((row) => row[index]);
}

/** The rows of a response as objects. */
export function recordsOf(answer) {
    return answer.data.map((row) => Object.fromEntries(answer.columns.map((name, index) => [name, row[index]])));
}

/**
 * A box that scrolls sideways where a table is wider, with the arrow keys too.  It is no landmark: the card around it
 * is one.
 * @param {string} label
 * @param {any} content
 * @param {string} [name]  of a class
 */
export function scrolling(label, content, name = '') {
    return h('div', { class: `scroll ${name}`, tabindex: 0, role: 'group', 'aria-label': label }, content);
}

const CHART_ROWS = 1000;

/**
 * The numbers of a chart.
 * @param {string} label
 * @param {any[]} rows
 * @param {Column[]} columns
 */
export function chartTable(label, rows, columns) {
    return h(
        'div',
        { class: 'chart-table', tabindex: 0, role: 'region', 'aria-label': label },
        table({ columns, rows: rows.slice(0, CHART_ROWS), caption: label }),
        rows.length > CHART_ROWS &&
            h('p', { class: 'hint padded' }, `The first ${CHART_ROWS} of ${rows.length}; the CSV has them all.`),
    );
}

/**
 * A bar as long as `share` of its cell, split where part of it was hidden behind compute.
 * @param {number|null|undefined} share  0 .. 1
 * @param {string} color
 * @param {number|null|undefined} hidden  0 .. 1 of the bar
 * @param {string} title
 */
export function bar(share, color, hidden, title) {
    if (share === null || share === undefined) return null;
    const element = h(
        'span',
        { class: 'bar', title, role: 'img', 'aria-label': title },
        h('span', { class: 'bar-shown' }),
        h('span', { class: 'bar-hidden' }),
    );
    setStyle(element, { '--share': share, '--hidden': hidden || 0, '--color': color });
    return element;
}
