/* npm's packages are not in the source tree. */
declare module 'echarts/*';
