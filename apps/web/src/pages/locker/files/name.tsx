// Names that others chose: shown as they are, apart from what cannot be seen or changes how the rest is read.

const INVISIBLE =
  /([\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[\u00a0\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164])/u
/** Of a name in a sentence or an attribute. */
const SHORT = 80

/** A name of text and, at odd places, characters that are shown by their number. */
export function nameParts(name: string): string[] {
  return name
    .split(new RegExp(INVISIBLE, 'gu'))
    .map((part, i) =>
      i % 2 === 0 ? part : `U+${(part.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`,
    )
}

/** One line of plain text, cut to fit a sentence. */
export function plainName(name: string): string {
  const parts = nameParts(name).map((part, i) => (i % 2 === 0 ? part : `[${part}]`))
  const characters = [...parts.join('')]
  return characters.length > SHORT ? `${characters.slice(0, SHORT).join('')}…` : characters.join('')
}

/** Isolated, so that its direction of writing changes nothing around it. */
export function Name({ name }: { name: string }) {
  return (
    <bdi class="filename">
      {nameParts(name).map((part, i) =>
        i % 2 === 0 ? (
          part
        ) : (
          <span key={i} class="invisible-char">
            {part}
          </span>
        ),
      )}
    </bdi>
  )
}

/** Without the folder that is shown; of a folder without the slash. */
export function nameIn(folder: string, name: string): string {
  return name.slice(folder.length).replace(/\/$/, '')
}
