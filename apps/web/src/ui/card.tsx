import type { ComponentChildren } from 'preact'

/** A region with a heading. */
export function Card({
  title,
  children,
  aside,
}: {
  title: string
  children: ComponentChildren
  aside?: ComponentChildren
}) {
  return (
    <section class="card" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
