/* What the search, which runs in a worker, needs beside the theme. */

/* Browsers give pages that are opened as files no workers: the search runs in a hidden frame then. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.hidden = true;
      frame.contentDocument.open(); // else Firefox would load an empty document over the script
      frame.contentDocument.write("<!doctype html><body>");
      frame.contentDocument.close();
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = frame.contentDocument.createElement("script");
      this.loaded = new Promise((resolve, reject) => Object.assign(script, { onload: resolve, onerror: reject }));
      script.src = url;
      frame.contentDocument.body.append(script);
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}

/* Who searches for --seed or fansite::load means just that: to the search's index these signs are orders. Nor does it
   know words of one letter, which every word begins as; and the name of all pages finds them all. */
const post = Worker.prototype.postMessage;
const plain = (query) => {
  const words = query.split(/[\s\-+:~^*]+/).filter((word) => word.length > 1);
  return words.filter((word) => word !== "fansite" || words.length === 1).join(" ");
};
Worker.prototype.postMessage = function (message) {
  return post.call(this, typeof message.data === "string" ? { ...message, data: plain(message.data) } : message);
};
