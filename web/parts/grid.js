/* grid.js - a table of any length: the server sorts it and hands it out in pages, and only the rows in sight are
 * elements.
 *
 * DESIGN.  All rows are equally high, so the row at a position is a division; rows above and below those in sight are
 * two empty rows of the right height (tall.js).  Rows are read by number as they come in sight (paged.js).  Widths are
 * those of the first rows, so that columns do not move while scrolling.  An element stays as long as its row is near:
 * what is new in sight is all that has to be made and laid out. */

import { fill, h } from '../dom.js';
import { grouped } from '../format.js';
import { failure } from './notice.js';
import { groupRow, headCell, rowElement } from './table.js';
import { tallList } from './tall.js';

const ROW = 33; /* px, as in parts.css */
const AHEAD = 6; /* rows above and below those in sight */
const SAMPLE = 30;

/* By answer and columns, the widths they had: to lay out a wide table takes longer than all else. */
const measured = new WeakMap();

/**
 * @typedef {Object} GridView
 * @property {import('./table.js').Column[]} columns  their get and cell take a record: {column name: value}
 * @property {import('./paged.js').Paged} source
 * @property {string} caption
 * @property {{label: any, span: number, title?: string}[]} [groups]
 * @property {string} [sort]
 * @property {(sort: string) => void} [onSort]
 * @property {(row: any, element: HTMLElement) => void} [decorate]
 */

export function grid() {
    const body = h('tbody', {}),
        head = h('thead', {}),
        widths = h('colgroup', {}),
        caption = h('caption', { class: 'visually-hidden' });
    const table = h('table', { class: 'table' }, caption, widths, head, body);
    const scroller = h('div', { class: 'grid', role: 'group', tabindex: -1 }, table);
    const words = h('p', { class: 'grid-words' });
    const element = h('div', {}, scroller, words);
    const placed = /** @type {Map<number, HTMLTableRowElement>} */ (
            new Map()
        ) /* elements by the number of their row */,
        blank = new WeakSet() /* of those, the ones whose row has not come yet */,
        [above, below] = [space(), space()];
    /** @type {GridView} */
    let view = /** @type {any} */ (null);
    let active = 0,
        shown = '',
        frame = 0,
        sight = 0 /* size of the scroller as the browser last reported it, px: to ask costs a layout */,
        wide = 0,
        aside = false /* scrolled to the right; to ask costs a layout, too */,
        reading = null /* the source that a page is read of */,
        closed = false;

    const list = tallList(scroller, ROW, {
        head: () => head.offsetHeight,
        moved() {
            cancelAnimationFrame(frame);
            frame = requestAnimationFrame(draw);
        },
    });
    const resize = new ResizeObserver(() => {
        look();
        if (view) draw();
    });
    resize.observe(scroller);
    body.addEventListener('keydown', walk);
    scroller.addEventListener('scroll', () => {
        aside = scroller.scrollLeft > 0;
    });

    function look() {
        sight = scroller.clientHeight;
        wide = scroller.clientWidth;
    }

    /** @param {GridView} next */
    function update(next) {
        const sameRows = view?.source === next.source,
            sameColumns =
                sameRows && view.columns.map(({ key }) => key).join() === next.columns.map(({ key }) => key).join();
        view = next;
        if (!sameRows) {
            active = 0;
            list.resize(next.source.count);
            list.moveTo(0);
        }
        if (!sameColumns && aside) scroller.scrollLeft = 0;
        caption.textContent = next.caption;
        scroller.setAttribute('aria-label', next.caption);
        table.setAttribute('aria-rowcount', String(next.source.count + 1));
        fill(
            head,
            next.groups && groupRow(next.groups),
            h(
                'tr',
                {},
                next.columns.map((column) => headCell(column, next.sort, next.onSort)),
            ),
        );
        scroller.style.setProperty('--rows', String(next.source.count));
        const focused = body.contains(document.activeElement);
        clear();
        if (wide === 0) look();
        if (!sameColumns && wide > 0) measure();
        draw();
        if (focused) focusActive();
    }

    function clear() {
        fill(body);
        placed.clear();
        shown = '';
    }

    /** Holds the widths that the browser gives to the first rows, or gave them when they were shown before. */
    function measure() {
        const shape = `${wide} ${view.columns.map(({ key }) => key).join()}`,
            known = measured.get(view.source.answer) ?? {};
        const cells = known[shape] ?? layOut();
        if (cells.every((width) => width === 0)) return; /* not in the page yet */
        measured.set(view.source.answer, Object.assign(known, { [shape]: cells }));
        fill(
            widths,
            cells.map((width) => h('col', { style: { width: `${width}px` } })),
        );
        scroller.style.setProperty('--pin-1', `${cells[0]}px`);
        scroller.style.setProperty('--pin-2', `${cells[0] + cells[1]}px`);
        table.style.setProperty('width', `${cells.reduce((sum, width) => sum + width, 0)}px`);
        table.classList.add('fixed');
    }

    function layOut() {
        fill(widths);
        table.classList.remove('fixed');
        table.style.removeProperty('width');
        for (let index = 0; index < Math.min(view.source.rows.length, SAMPLE); index++) body.append(placedRow(index));
        return [...head.rows[head.rows.length - 1].cells].map((cell) => Math.ceil(cell.getBoundingClientRect().width));
    }

    function draw() {
        if (closed || !view) return;
        if (!table.classList.contains('fixed') && wide > 0) measure();
        const wanted = list.window(sight, AHEAD);
        const picture = `${wanted.first} ${wanted.last} ${wanted.above} ${view.source.here}`;
        if (picture === shown) return;
        shown = picture;
        const focused = body.contains(document.activeElement);
        follow(wanted);
        place(wanted);
        reach(0);
        if (focused && !body.contains(document.activeElement)) focusActive();
        readFor(wanted.first, wanted.last);
        showCount();
    }

    /** The row that the keys are on stays near what is in sight, so that Tab comes to it. */
    function follow({ first, last }) {
        const nearest = Math.max(first, Math.min(last - 1, active));
        if (nearest !== active) reach(-1);
        active = nearest;
    }

    /** Takes away what is out of sight and puts in what is missing, in order. */
    function place(wanted) {
        for (const [index, row] of placed)
            if (index < wanted.first || index >= wanted.last || (blank.has(row) && view.source.rows[index])) {
                row.remove();
                placed.delete(index);
            }
        high(above, wanted.above);
        high(below, wanted.below);
        if (wanted.above > 0 && body.firstElementChild !== above) body.prepend(above);
        if (wanted.below > 0 && body.lastElementChild !== below) body.append(below);
        let at = wanted.above > 0 ? above.nextElementSibling : body.firstElementChild;
        for (let index = wanted.first; index < wanted.last; index++) {
            const row = placedRow(index);
            if (row === at) at = at.nextElementSibling;
            else body.insertBefore(row, at);
        }
    }

    function high(row, height) {
        if (height <= 0) row.remove();
        row.cells[0].colSpan = view.columns.length;
        row.cells[0].style.setProperty('height', `${height}px`);
    }

    function placedRow(index) {
        const row = placed.get(index) ?? rowAt(index);
        placed.set(index, row);
        return row;
    }

    /** @returns {HTMLTableRowElement} */
    function rowAt(index) {
        const values = view.source.rows[index];
        if (!values) {
            const row = h(
                'tr',
                { 'aria-rowindex': index + 2, tabindex: index === active ? 0 : -1 },
                view.columns.map((_, at) => h('td', { class: 'quiet' }, at === 0 ? '\u2026' : '')),
            );
            blank.add(row);
            return row;
        }
        const record = Object.fromEntries(view.source.columns.map((name, at) => [name, values[at]]));
        const row = rowElement(view.columns, record, view.decorate);
        row.setAttribute('aria-rowindex', String(index + 2));
        row.tabIndex = index === active ? 0 : -1;
        return row;
    }

    /* One page at a time: what is in sight when it has come is asked for by drawing it. */
    async function readFor(first, last) {
        const { source } = view;
        if (reading === source) return;
        reading = source;
        let came = false;
        try {
            came = await source.need(first, last);
        } catch (problem) {
            if (problem.name !== 'AbortError' && source === view?.source)
                fill(
                    words,
                    failure(problem, () => readFor(first, last)),
                );
        } finally {
            if (reading === source) reading = null;
        }
        if (came && source === view?.source) draw();
    }

    function showCount() {
        const { count, here } = view.source;
        const left = here < count ? `, ${grouped(here)} of them read` : '';
        words.textContent = `${grouped(count)} ${count === 1 ? 'row' : 'rows'}${left}`;
    }

    /**
     * Arrows, page keys, Home and End move between rows; Enter does what a click on the row's first link or button
     * does.
     */
    function walk(event) {
        const row = /** @type {HTMLElement} */ (event.target);
        if (row.parentElement !== body) return;
        const page = Math.max(1, Math.floor(scroller.clientHeight / ROW) - 2);
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[
            event.key
        ];
        if (by === undefined && event.key !== 'Enter') return;
        /* also of Enter, which would press what has the focus after the click, such as a dialog's cross */
        event.preventDefault();
        if (event.key === 'Enter') {
            /** @type {HTMLElement|null} */ (row.querySelector('a, button'))?.click();
            return;
        }
        reach(-1);
        active = Math.max(0, Math.min(view.source.count - 1, Number(row.getAttribute('aria-rowindex')) - 2 + by));
        const top = active * ROW,
            height = list.inSight();
        if (top < list.position()) list.moveTo(top);
        else if (top + ROW > list.position() + height) list.moveTo(top + ROW - height);
        draw();
        reach(0);
        focusActive();
    }

    /** Whether Tab comes to the row that the keys are on. */
    function reach(tabIndex) {
        const row = placed.get(active);
        if (row) row.tabIndex = tabIndex;
    }

    function focusActive() {
        placed.get(active)?.focus({ preventScroll: true });
    }

    return {
        element,
        update,
        close() {
            closed = true;
            cancelAnimationFrame(frame);
            resize.disconnect();
        },
    };
}

/** What stands for the rows above or below those in sight. */
function space() {
    return h('tr', { class: 'grid-space', 'aria-hidden': 'true' }, h('td', {}));
}
