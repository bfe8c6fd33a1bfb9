// The content type of a file: fixed when the file is created, required for each upload, sent with each download.

export const DEFAULT_MEDIA_TYPE = 'application/octet-stream'

const MAX_CHARACTERS = 255

// RFC 9110, section 8.3.1. No white space around "=", and no ";" without a parameter.
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
const PARAMETER = `[ \\t]*;[ \\t]*(${TOKEN})=(${TOKEN}|${QUOTED})`
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})((?:${PARAMETER})*)$`)

/** The fault of a content type, as text after "content_type: "; null for a valid one (FILE-09). */
export function mediaTypeProblem(text: string): string | null {
  if (text.length > MAX_CHARACTERS) return `must be at most ${MAX_CHARACTERS} characters`
  // It becomes a header here and at the providers, so it must not contain a line break (T-30).
  if (/[^\x20-\x7e]/.test(text)) return 'must be printable ASCII'
  return MEDIA_TYPE.test(text) ? null : "must have the form 'type/subtype', with parameters as in '; charset=utf-8'"
}

/** Whether an upload has the locked type, in any spelling (SHORT-06). */
export function isSameMediaType(locked: string, sent: string | undefined): boolean {
  const canonical = sent === undefined ? null : canonicalForm(sent)
  return canonical !== null && canonical === canonicalForm(locked)
}

function canonicalForm(text: string): string | null {
  const match = MEDIA_TYPE.exec(text)
  if (!match) return null
  const [, type = '', parameters = ''] = match
  const pairs = [...parameters.matchAll(new RegExp(PARAMETER, 'g'))].map(([, name = '', value = '']) => {
    const key = name.toLowerCase()
    return [key, key === 'charset' ? unquoted(value).toLowerCase() : unquoted(value)]
  })
  return JSON.stringify([type.toLowerCase(), pairs])
}

/** A value means the same with and without quotes. */
function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}
