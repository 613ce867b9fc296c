/* npm's packages are not in the source tree. */
declare module 'echarts/*';
declare module '@codemirror/*';
declare module 'style-mod';
