/** `of` is the total, in the same unit as `done`; null if it is unknown. */
export function Progress({ label, done, of }: { label: string; done: number; of: number | null }) {
  return (
    <label class="progress">
      <span>{label}</span>
      <progress {...(of !== null && { value: done, max: of || 1 })} />
    </label>
  )
}
