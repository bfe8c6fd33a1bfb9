// The content type of a file: chosen when the file is created, sent with every answer, demanded of every upload.

export const DEFAULT_MEDIA_TYPE = 'application/octet-stream'

const MAX_CHARACTERS = 255

// RFC 9110, 8.3.1. No white space around "=", and no ";" without a parameter.
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
const PARAMETER = `[ \\t]*;[ \\t]*(${TOKEN})=(${TOKEN}|${QUOTED})`
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})((?:${PARAMETER})*)$`)

/** Null for a type that is accepted, else what is wrong with it, to be read after "content_type: " (AMB-63). */
export function mediaTypeProblem(text: string): string | null {
  if (text.length > MAX_CHARACTERS) return `must be at most ${MAX_CHARACTERS} characters`
  // It becomes a header, here and at the storage providers: nothing that could end one (T-30).
  if (/[^\x20-\x7e]/.test(text)) return 'must be printable ASCII'
  return MEDIA_TYPE.test(text) ? null : "must have the form 'type/subtype', with parameters as in '; charset=utf-8'"
}

/** Whether an upload comes with the locked type, however it is spelled (SHORT-06). */
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
