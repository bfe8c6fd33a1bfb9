/**
 * The name under which a browser keeps the file: twice, because old readers take only the first form (RFC 6266). Only
 * the last part of the name; a browser chooses its own folder.
 */
export function inlineDisposition(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  return `inline; filename="${asciiFallback(name)}"; filename*=UTF-8''${extendedValue(name)}`
}

/** Without what ends or escapes a quoted string, and without "%": some readers decode it there. */
function asciiFallback(name: string): string {
  return name.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
}

/** RFC 5987 leaves fewer characters as they are than a URL does. */
function extendedValue(name: string): string {
  return encodeURIComponent(name).replace(/[*'()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
