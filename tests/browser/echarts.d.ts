/* What the build copies there is not in the source tree. */
declare module '*/vendor/echarts.js';
