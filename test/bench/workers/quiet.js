// Silences the log of the Worker imported after this file. The platform collects log lines outside of requests, but here the process that
// sends the load would print them.
console.log = () => {};
