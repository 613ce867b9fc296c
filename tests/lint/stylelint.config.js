/* stylelint.config.js - mistakes in the dashboard's style sheets; colours stand in colors.css alone. */

export default {
    extends: 'stylelint-config-recommended',
    rules: { 'no-descending-specificity': null /* sheets are in the order of the parts of a page */ },
    overrides: [{ files: ['**/style.css', '**/parts.css'], rules: { 'color-no-hex': true } }],
};
