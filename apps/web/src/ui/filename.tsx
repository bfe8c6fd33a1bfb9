// Untrusted file names, shown unchanged except for invisible characters and characters that change the writing direction.

const INVISIBLE =
  /([\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[\u00a0\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164])/gu

/** The maximum length of a name in a sentence or an attribute. */
const SHORT = 80

/** Text parts; the parts at odd indices are characters to show by their code. */
export function filenameParts(name: string): string[] {
  return name.split(INVISIBLE).map((part, i) => (i % 2 === 0 ? part : codePoint(part)))
}

function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`
}

/** The name as one line of plain text, for titles and attributes. */
export function plainFilename(name: string): string {
  return filenameParts(name)
    .map((part, i) => (i % 2 === 0 ? part : `[${part}]`))
    .join('')
}

/** The name, shortened to fit a sentence. */
export function shortFilename(name: string): string {
  const characters = [...plainFilename(name)]
  return characters.length > SHORT ? `${characters.slice(0, SHORT).join('')}…` : characters.join('')
}

/** A name in isolation: its writing direction does not affect the text around it. */
export function Filename({ name }: { name: string }) {
  return (
    <bdi class="filename">
      {filenameParts(name).map((part, i) =>
        i % 2 === 0 ? (
          part
        ) : (
          <span key={i} class="unseen">
            {part}
          </span>
        ),
      )}
    </bdi>
  )
}
