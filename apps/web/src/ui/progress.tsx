/** `of` is the whole, in the same unit as `done`. */
export function Progress({ label, done, of }: { label: string; done: number; of: number }) {
  return (
    <label class="progress">
      <span>{label}</span>
      <progress value={done} max={of || 1} />
    </label>
  )
}
