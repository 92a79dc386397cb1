// Checks pages, or with PROSE=comments the comments of sources, for the words in words.yml.
const fs = require("node:fs");
const path = require("node:path");

const words = fs.readFileSync(path.join(__dirname, "words.yml"), "utf8");
// A word of a source counts behind the mark of a comment, or as the sixth or later word of a line.
const inComment = String.raw`(?<=(?:\/\/|#(?!\{)|^\s*\*|"""|^\s+(?:[\w'-]+[,;:.]? ){5,}).*)`;
const wordsOfComments = words.replace(/(pattern: \/.*)(\/i?)$/gm, `$1${inComment}$2`);

module.exports =
  process.env.PROSE === "comments"
    ? {
        plugins: { "@textlint/text": { extensions: [".php", ".py", ".rb", ".rs"] } },
        rules: { prh: { ruleContents: [wordsOfComments] } },
      }
    : { rules: { prh: { ruleContents: [words] } } };
