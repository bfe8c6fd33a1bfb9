import type { ComponentChildren } from 'preact'

/** Text with `code` in backticks. */
export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>
}

/** A path that may break before each slash, with its parameters set apart. */
export function PathText({ path }: { path: string }) {
  const parts = path.split(/(?=\/)/)
  return (
    <>
      {parts.map((part, i) => (
        <span key={i}>
          <wbr />
          {part.split(/(\{[^}]*\})/).map((piece, j) =>
            j % 2 ? (
              <span key={j} class="arg">
                {piece}
              </span>
            ) : (
              piece
            ),
          )}
        </span>
      ))}
    </>
  )
}

export function Method({ name }: { name: string }) {
  return <span class={`method method-${name}`}>{name === 'delete' ? 'DEL' : name.toUpperCase()}</span>
}

export function Chips({ values }: { values: readonly string[] }): ComponentChildren {
  return values.map((value) => [
    <span key={value} class="chip">
      {value}
    </span>,
    ' ',
  ])
}
