/* paged.js - the rows of a response, of which only those are here that somebody looked at.
 *
 * The server gives any row by its number (offset), so the last one of millions is as near as the first. */

const PAGE = 500 /* rows that come together */,
    MOST = 10000; /* of one call */

/**
 * @typedef {Object} Paged
 * @property {string[]} columns
 * @property {Object<string, string>} units
 * @property {any[][]} rows  by number; those that are not here are empty slots
 * @property {number} here  how many are
 * @property {number} count  of all rows
 * @property {any} answer  the first page as it came
 * @property {(first: number, last: number) => Promise<boolean>} need  reads what is missing of rows first .. last - 1;
 *   false: all were here already
 */

/**
 * Reads the first page.
 * @param {(page: {limit: number, offset: number|undefined}) => Promise<{columns: string[], units?: Object<string,
 *   string>, data: any[][], row_count: number}>} load
 * @returns {Promise<Paged>}
 */
export async function paged(load) {
    const answer = await load({ limit: PAGE, offset: undefined });
    /** @type {Promise<void>|null} */
    let reading = null;
    const paged = {
        columns: answer.columns,
        units: answer.units ?? {},
        rows: [...answer.data],
        here: answer.data.length,
        count: answer.row_count,
        answer,
        need,
    };

    async function need(first, last) {
        let read = false;
        for (let from = missing(first, last); from < last; from = missing(from, last)) {
            reading ??= page(from, last).finally(() => {
                reading = null;
            });
            await reading;
            read = true;
        }
        return read;
    }

    /** The first row from there on that is not here. */
    function missing(first, last) {
        let row = first;
        while (row < last && row in paged.rows) row++;
        return row;
    }

    async function page(from, last) {
        const offset = from - (from % PAGE);
        const limit = Math.min(MOST, Math.ceil((last - offset) / PAGE) * PAGE);
        const { data } = await load({ limit, offset });
        if (data.length === 0) throw new Error('The answer has fewer rows than it said; load the page again.');
        data.forEach((row, at) => {
            if (!(offset + at in paged.rows)) paged.here++;
            paged.rows[offset + at] = row;
        });
    }
    return paged;
}

/**
 * Rows that came in one answer.
 * @param {any} answer
 * @param {string[]} [columns]  of the rows, when they are other ones than the answer's
 * @param {any[][]} [rows]
 * @returns {Paged}
 */
export function whole(answer, columns = answer.columns, rows = answer.data) {
    const { length } = rows;
    return { columns, units: answer.units ?? {}, rows, here: length, count: length, answer, need: async () => false };
}
