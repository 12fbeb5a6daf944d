// Runs patterns by itself, so that one which never ends stops nothing else. Answers each pair in turn.
onmessage = ({ data }: MessageEvent<{ pattern: string; text: string }[]>) => {
  data.forEach(({ pattern, text }, at) => {
    let matches = true;
    try {
      matches = new RegExp(pattern, "u").test(text);
    } catch {
      // One that is no expression checks nothing.
    }
    postMessage({ at, matches });
  });
};
