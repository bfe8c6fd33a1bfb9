/** A text as one word of a POSIX shell, and of the settings of aws, which are read by the same rules. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
