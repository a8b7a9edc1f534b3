// One stream for all tabs of a browser: HTTP/1.1 has six connections to a host, and the server 64 streams for everybody.
// Tabs tell whether they are seen; while none is there is no stream, and the first one that is shown again asks anew.

import { follow, merged } from "./stream.js";

const tabs = new Map();
let stream;
let overview;
let connection = { open: false };

const tell = (message) => {
  for (const tab of tabs.keys()) tab.postMessage(message);
};

function open() {
  stream = follow("/api/v1/events", {
    opened() {
      connection = { open: true };
      tell({ connection });
    },
    lost({ status, wait }) {
      connection = { open: false, status, wait };
      tell({ connection });
    },
    event(name, data) {
      overview = merged(overview, name, data);
      tell({ name, data });
    },
  });
}

function arrange() {
  const seen = [...tabs.values()].includes(true);
  if (seen && !stream) open();
  if (!seen && stream) {
    stream.close();
    stream = overview = undefined;
    connection = { open: false };
  }
}

self.onconnect = ({ ports: [tab] }) => {
  tab.onmessage = ({ data }) => {
    if (data === "retry") stream?.retry();
    else if (data === "bye") tabs.delete(tab);
    else {
      const isNew = !tabs.get(tab) && data === "seen";
      tabs.set(tab, data === "seen");
      // A tab that comes later gets what the others have.
      if (isNew && stream) tab.postMessage({ connection });
      if (isNew && overview) tab.postMessage({ name: "snapshot", data: overview });
    }
    arrange();
  };
};
