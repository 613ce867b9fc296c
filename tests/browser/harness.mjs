/* harness.mjs - runs tests, each in a browser window of its own, and fails those during which the console complained.
 * */

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

const work = path.join(process.env.STRATA_BUILD, 'tests/browser');
const { chromium } = createRequire(path.join(work, 'package.json'))('playwright-core');

export const shots = path.join(work, 'shots');

export function openBrowser() {
    return chromium.launch({
        executablePath: process.env.STRATA_CHROMIUM,
        args: [
            '--headless',
            '--no-sandbox',
            '--disable-gpu',
            '--disable-quic',
            '--no-first-run',
            '--disable-background-networking',
            '--disable-component-update',
            '--disable-sync',
        ],
    });
}

/**
 * @typedef {Object} Test
 * @property {string} name
 * @property {(page: Object, daemon: import('./daemon.mjs').Daemon, browser: Object) => Promise<void>} body
 * @property {RegExp} [expected]  console errors that belong to what is tested
 */

/**
 * How a browser, a daemon and other programs share two processors differs from run to run: a test that failed runs
 * once more after all others. One that passes then is named as flaky; one that fails twice has failed.
 *
 * @param {Test[]} tests
 */
export async function runTests({ browser, daemon, words }, tests) {
    await mkdir(shots, { recursive: true });
    const chosen = tests.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
    const again = await failuresOf(chosen, browser, daemon);
    const failures = await failuresOf(
        again.map(({ test }) => test),
        browser,
        daemon,
    );
    const twice = new Set(failures.map(({ test }) => test));
    for (const { test, error } of again)
        console.log(`${twice.has(test) ? 'FAILED' : 'flaky'} ${test.name}: ${error.stack}`);
    console.log(`${chosen.length - failures.length} passed, ${failures.length} failed, 0 skipped`);
    return failures.length;
}

/** @param {Test[]} tests */
async function failuresOf(tests, browser, daemon) {
    const failures = [];
    for (const test of tests) {
        try {
            await runTest(browser, daemon, test);
            console.log(`ok ${test.name}`);
        } catch (error) {
            failures.push({ test, error });
            console.log(`failed ${test.name}: ${error.stack}`);
        }
    }
    return failures;
}

const ofAll = ['evaluateAll', 'allInnerTexts', 'allTextContents'];

/**
 * Reads of all elements wait for the first one, as reads of one element do; what may be empty is counted. Where an
 * element lies is read once nothing above it waits for a response.
 */
function readsWait(page) {
    const locators = Object.getPrototypeOf(page.locator('html'));
    if (Object.hasOwn(locators, 'waits')) return;
    locators.waits = true;
    for (const read of ofAll) {
        const atOnce = locators[read];
        locators[read] = async function (...given) {
            await this.first().waitFor({ state: 'attached' });
            return atOnce.apply(this, given);
        };
    }
    const boundingBox = locators.boundingBox;
    locators.boundingBox = async function (...given) {
        await idle(this.page());
        return boundingBox.apply(this, given);
    };
}

async function runTest(browser, daemon, { name, body, expected }) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
    const page = await context.newPage();
    readsWait(page);
    const complaints = [];
    /* for what never comes: how fast a machine is decides nothing */
    page.setDefaultTimeout(Number(process.env.STRATA_PATIENCE_MS ?? 120000));
    page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.stack));
    try {
        await body(page, daemon, browser);
        assert.deepEqual(
            complaints.filter((text) => !expected?.test(text)),
            [],
            'console of the browser',
        );
    } catch (error) {
        await page.screenshot({ path: path.join(shots, `failed ${name.replaceAll('/', ' ')}.png`) }).catch(() => {});
        throw error;
    } finally {
        await context.close();
    }
}

/** The full numbers behind the cells of a table: {row name: {column label: number or null}}. */
export function tableNumbers(table) {
    return table.evaluate((element) =>
        Object.fromEntries(
            [...element.tBodies[0].rows].map((row) => [
                row.cells[0].querySelector('a, button, data')?.textContent.trim(),
                Object.fromEntries(
                    [...row.cells]
                        .slice(1)
                        .filter((cell) => cell.dataset.label)
                        .map((cell) => {
                            const data = cell.querySelector('data');
                            return [cell.dataset.label, data ? Number(data.value) : null];
                        }),
                ),
            ]),
        ),
    );
}

/** Waits until the page of the address is there, and nothing on it waits for a response. */
export function idle(page) {
    return page.waitForFunction(() => !document.querySelector('.outdated, [aria-busy="true"]'));
}

/** Waits until a page of rows and every card beside it stands. */
export async function settled(page) {
    await idle(page);
    await page.locator('.grid tbody tr').first().waitFor();
    await idle(page);
}

/** The figure of a tile: its full number. */
export async function tileNumber(page, label) {
    const data = page
        .locator('.tile', { has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) })
        .locator('data');
    return Number(await data.getAttribute('value'));
}

/** What stands in a box of expressions, be it a plain field or the editor. */
export function expressionIn(box) {
    return box.evaluate((field) => field.value ?? (field.querySelector('.cm-placeholder') ? '' : field.textContent));
}

/** An entry of the completion list, once the list has it and is not being renewed. */
export async function offered(page, name) {
    const entry = page
        .locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)')
        .getByRole('option', { name });
    await entry.first().waitFor();
    return entry.first();
}

/** What the URL holds, as the page itself sees it. */
export function parametersOf(page) {
    return page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
}
