// XML of requests and responses, limited to what S3 uses: elements and text. Constructs that no client needs (document
// types, custom entities, processing instructions) are rejected.

import { fromUtf8 } from '@svc/protocol/bytes'
import { type S3Error, s3Error } from './errors.ts'
import { encode } from './target.ts'

export interface XmlElement {
  /** Without the prefix of a namespace. */
  name: string
  /** All text directly inside the element. */
  text: string
  children: readonly XmlElement[]
}

export interface XmlLimits {
  bytes: number
  elements: number
}

const MAX_DEPTH = 8

/** The root element; throws `MalformedXML`. Attributes are ignored. */
export function readXml(bytes: Uint8Array, limits: XmlLimits): XmlElement {
  if (bytes.length > limits.bytes) throw malformed(`it has more than ${limits.bytes} bytes`)
  const text = fromUtf8(bytes)
  if (text === null) throw malformed('it is not UTF-8')
  if (NOT_XML.test(text)) throw malformed('it has a control character')
  return new Reader(text, limits.elements).readDocument()
}

type Open = { name: string; text: string; children: XmlElement[] }

const NAME = '[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?'
const DECLARATION = /\ufeff?(?:<\?xml\s+version\s*=\s*["']1\.0["']([^<>]*?)\?>)?/y
const START_TAG = new RegExp(`<(${NAME})(?:\\s+${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*\\s*(/?)>`, 'y')
const END_TAG = new RegExp(`</(${NAME})\\s*>`, 'y')
const TEXT = /[^<]+/y
const CDATA = /<!\[CDATA\[(.*?)\]\]>/sy
const COMMENT = /<!--.*?-->/sy
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 cannot hold
const NOT_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/

class Reader {
  readonly #text: string
  #at = 0
  #elementsLeft: number

  constructor(text: string, maxElements: number) {
    this.#text = text
    this.#elementsLeft = maxElements
  }

  readDocument(): XmlElement {
    const declared = this.#match(DECLARATION)?.[1] ?? ''
    if (/encoding/.test(declared) && !/encoding\s*=\s*["']utf-8["']/i.test(declared)) throw malformed('it is not UTF-8')
    const document: Open = { name: '', text: '', children: [] }
    const open = [document]
    while (this.#at < this.#text.length) this.#readNext(open)
    const [root] = document.children
    if (open.length > 1) throw malformed('an element is not closed')
    if (!root || document.children.length > 1 || document.text.trim() !== '')
      throw malformed('it does not have exactly one root element')
    return root
  }

  #readNext(open: Open[]): void {
    const parent = open.at(-1) as Open
    const text = this.#match(TEXT)
    if (text) {
      parent.text += unescapeText(text[0])
      return
    }
    const start = this.#match(START_TAG)
    if (start) {
      if (this.#elementsLeft-- === 0) throw malformed('it has too many elements')
      const element: Open = { name: localName(start[1] as string), text: '', children: [] }
      parent.children.push(element)
      if (start[2] === '/') return
      if (open.push(element) > MAX_DEPTH + 1) throw malformed('its elements are nested too deeply')
      return
    }
    const end = this.#match(END_TAG)
    if (end) {
      if (open.length === 1 || parent.name !== localName(end[1] as string)) throw malformed('its tags do not match')
      open.pop()
      return
    }
    const data = this.#match(CDATA)
    if (data) parent.text += data[1]
    else if (!this.#match(COMMENT)) throw malformed('it has something other than elements and text')
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at = pattern.lastIndex
    return match
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' }

function unescapeText(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:(amp|apos|gt|lt|quot)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g, (_, name, decimal, hex) => {
    if (name) return ENTITIES[name] as string
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : Number.NaN
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    if (!isCharacter || NOT_XML.test(String.fromCodePoint(code))) throw malformed('it has an unknown entity')
    return String.fromCodePoint(code)
  })
}

function malformed(problem: string): S3Error {
  return s3Error('MalformedXML', `the XML of the body is malformed: ${problem}`)
}

export function childrenOf({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter((child) => child.name === name)
}

/** The text of the only child of that name; null when there is none. */
export function textOf(element: XmlElement, name: string): string | null {
  const [child, second] = childrenOf(element, name)
  if (second) throw malformed(`${name} is repeated`)
  return child?.text ?? null
}

/** Content that is already XML. For long lists, this takes a third of the time. */
export class WrittenXml {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Text, or elements by name; an array repeats its element, and `undefined` leaves it out. */
export type XmlValue = string | number | boolean | WrittenXml | XmlFields

export interface XmlFields {
  readonly [name: string]: XmlValue | readonly XmlValue[] | undefined
}

/** A document with S3's namespace, except for `Error`, which has none. */
export function writeXml(root: string, value: XmlValue): string {
  const namespace = root === 'Error' ? '' : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${namespace}>${writeContent(value)}</${root}>`
}

export function writeContent(value: XmlValue): string {
  if (typeof value === 'string') return escapeText(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof WrittenXml) return value.text
  let text = ''
  for (const name in value) {
    const content = value[name]
    if (isList(content)) for (const one of content) text += writeElement(name, one)
    else text += writeElement(name, content)
  }
  return text
}

function isList(value: XmlValue | readonly XmlValue[] | undefined): value is readonly XmlValue[] {
  return Array.isArray(value)
}

export function writeElement(name: string, value: XmlValue | undefined): string {
  return value === undefined ? '' : `<${name}>${writeContent(value)}</${name}>`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // Readers turn an unescaped one into a line feed.
  '\r': '&#13;',
}

/** Characters that XML cannot contain become U+FFFD. */
function escapeText(text: string): string {
  if (!/[^ !#-%'-;=?-~]/.test(text)) return text
  const escaped = text.replace(/[&<>"\r]/g, (char) => ESCAPES[char] as string)
  return /[^ -~]/.test(escaped) ? escaped.toWellFormed().replace(EVERY_NOT_XML, '\ufffd') : escaped
}

const EVERY_NOT_XML = new RegExp(NOT_XML, 'g')

/**
 * A key in a list: with `encoding-type=url` its UTF-8 in percent-encoding, with `/` unchanged. Without, a key that XML
 * cannot contain is an error: a client would read, and delete, another key in its place.
 */
export function encodeKey(key: string, encodingType: 'url' | null): string {
  if (encodingType === 'url') return encode(key).replaceAll('%2F', '/')
  if (!NOT_XML.test(key)) return key
  throw s3Error('InvalidArgument', 'the list has a key that XML cannot represent', 'list with encoding-type=url')
}
