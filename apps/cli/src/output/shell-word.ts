/** Quotes text as one word of a POSIX shell. The settings of aws follow the same rules. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
