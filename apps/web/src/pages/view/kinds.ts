// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the first bytes of files contain them.
// Detects the kind of a file. Its bytes decide; the untrusted type and name only help if the bytes are ambiguous.

type Kind = 'empty' | 'encrypted' | 'image' | 'svg' | 'pdf' | 'audio' | 'video' | 'markdown' | 'text' | 'other'

export interface Recognized {
  kind: Kind
  /** The media type of a picture. */
  imageType?: string
  /** The character set of a text. */
  charset?: string
  /** Whether the type or the name contradicts the bytes. */
  isDisguised: boolean
}

interface Facts {
  filename: string
  size: number
  /** The declared type. */
  type: string
  head: Uint8Array
}

export function recognize(facts: Facts): Recognized {
  const found = byBytes(facts)
  const promised = promisedKind(facts)
  const isDisguised =
    promised !== null && !['empty', 'encrypted'].includes(found.kind) && promised !== family(found.kind)
  return { ...found, isDisguised }
}

export function extensionOf(filename: string): string {
  return /\.([a-z0-9_+-]{1,16})$/i.exec(filename)?.[1]?.toLowerCase() ?? ''
}

type Found = Omit<Recognized, 'isDisguised'>

function byBytes({ filename, size, type, head }: Facts): Found {
  if (size === 0) return { kind: 'empty' }
  const start = latin1(head.subarray(0, 64))
  if (/^(age-encryption\.org\/v1\n|-----BEGIN AGE ENCRYPTED FILE-----)/.test(start)) return { kind: 'encrypted' }
  const imageType = IMAGES.find(([pattern]) => pattern.test(start))?.[1]
  if (imageType) return { kind: 'image', imageType }
  if (start.startsWith('%PDF-')) return { kind: 'pdf' }
  const media = MEDIA.find(([pattern]) => pattern.test(start))?.[1]
  const promisedMedia = mediaPromise(type, extensionOf(filename))
  if (media) return { kind: promisedMedia ?? media }
  // MPEG audio frames begin with only eleven fixed bits: too few to detect them.
  if (promisedMedia === 'audio' && head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0) return { kind: 'audio' }
  const charset = charsetOf(head, isTextPromised(type, extensionOf(filename)))
  if (!charset) return { kind: 'other' }
  const text = new TextDecoder(charset).decode(head.subarray(0, 4096))
  // The type must also be a picture: otherwise the browser would not show it.
  if (
    type === 'image/svg+xml' &&
    /^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE[^>]*>\s*)?<svg[\s>]/i.test(text)
  )
    return { kind: 'svg', charset }
  const isMarkdown = type === 'text/markdown' || /^(md|markdown)$/.test(extensionOf(filename))
  return { kind: isMarkdown ? 'markdown' : 'text', charset }
}

const IMAGES: readonly [RegExp, string][] = [
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[\s\S]{4}WEBP/, 'image/webp'],
  [/^[\s\S]{4}ftyp(avif|avis)/, 'image/avif'],
  [/^BM[\s\S]{4}\0\0\0\0[\s\S]{4}[\x0c-\x7c]\0\0\0/, 'image/bmp'],
]

const MEDIA: readonly [RegExp, 'audio' | 'video'][] = [
  [/^RIFF[\s\S]{4}WAVE/, 'audio'],
  [/^fLaC/, 'audio'],
  [/^ID3[\x02-\x04]/, 'audio'],
  [/^OggS\0/, 'audio'],
  [/^[\s\S]{4}ftyp(M4A|M4B)/, 'audio'],
  [/^[\s\S]{4}ftyp/, 'video'],
  [/^\x1a\x45\xdf\xa3/, 'video'],
]

function mediaPromise(type: string, extension: string): 'audio' | 'video' | null {
  const [family] = type.split('/')
  if (family === 'audio' || family === 'video') return family
  if (/^(mp3|m4a|aac|wav|flac|oga|ogg|opus|weba)$/.test(extension)) return 'audio'
  return /^(mp4|m4v|webm|ogv|mov|mkv)$/.test(extension) ? 'video' : null
}

const IMAGE_NAMES = /^(png|jpe?g|gif|webp|avif|bmp)$/
const TEXT_NAMES =
  /^(txt|text|log|csv|tsv|md|markdown|json|jsonl|ya?ml|toml|ini|cfg|conf|env|xml|svg|html?|xhtml|css|scss|less|m?[jt]sx?|c[jt]s|sh|bash|zsh|py|rb|rs|go|java|kt|c|h|cc|cpp|hpp|cs|php|pl|lua|r|sql|swift|diff|patch|tex|srt|vtt)$/

function isTextPromised(type: string, extension: string): boolean {
  return (
    /^text\/|^application\/(json|xml|javascript|x-sh|yaml|toml)|\+(json|xml)$/.test(type) || TEXT_NAMES.test(extension)
  )
}

type Family = 'image' | 'pdf' | 'media' | 'text'

/** The kind that the name and the type suggest; null if they suggest none that can be shown. */
function promisedKind({ filename, type }: Facts): Family | null {
  const extension = extensionOf(filename)
  if (IMAGE_NAMES.test(extension)) return 'image'
  if (extension === 'pdf') return 'pdf'
  if (mediaPromise('', extension)) return 'media'
  if (TEXT_NAMES.test(extension)) return 'text'
  if (/^image\/(?!svg)/.test(type)) return 'image'
  if (type === 'application/pdf') return 'pdf'
  return mediaPromise(type, '') ? 'media' : null
}

function family(kind: Kind): Family | 'other' {
  if (kind === 'image' || kind === 'pdf') return kind
  if (kind === 'audio' || kind === 'video') return 'media'
  return kind === 'svg' || kind === 'markdown' || kind === 'text' ? 'text' : 'other'
}

/** The character set; null if the bytes are not text. */
function charsetOf(head: Uint8Array, isPromised: boolean): string | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head.some(isBinary)) return null
  try {
    // Decode as a stream: the last character may be incomplete.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return 'utf-8'
  } catch {
    return isPromised ? 'windows-1252' : null
  }
}

/** Whether a byte is a control character other than tab, line feeds, form feed and escape, which logs contain. */
function isBinary(byte: number): boolean {
  return byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
