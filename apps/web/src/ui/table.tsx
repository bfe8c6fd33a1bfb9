import type { ComponentChildren } from 'preact'

interface TableProps {
  caption: string
  head: readonly string[]
  rows: readonly (readonly ComponentChildren[])[]
  /** The indices of numeric columns. */
  numeric?: readonly number[]
}

/** A table with a caption for screen readers. On a phone it scrolls separately. */
export function Table({ caption, head, rows, numeric = [] }: TableProps) {
  const className = (column: number) => (numeric.includes(column) ? 'number' : undefined)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section class="table" tabIndex={0} aria-label={caption}>
      <table>
        <thead>
          <tr>
            {head.map((title, column) => (
              <th key={title} scope="col" class={className(column)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={head[column]} class={className(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
