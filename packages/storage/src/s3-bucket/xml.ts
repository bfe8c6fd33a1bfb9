// The part of XML that S3 answers use: elements without attributes that contain only text.

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element of this name. */
export function textIn(xml: string, name: string): string | null {
  return textsIn(xml, name)[0] ?? null
}

/** The texts of all elements of this name, in order. */
export function textsIn(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map((match) => decode(match[1] as string))
}

function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w{1,4}));/g, (entity, decimal, hex, name) => {
    const point = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    if (name !== undefined) return ENTITIES[name] ?? entity
    return point <= 0x10ffff ? String.fromCodePoint(point) : entity
  })
}

export function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
}
