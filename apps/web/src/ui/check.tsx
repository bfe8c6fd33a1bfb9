import type { Signal } from '@preact/signals'

export function Check({ label, checked }: { label: string; checked: Signal<boolean> }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked.value}
        onChange={(event) => {
          checked.value = event.currentTarget.checked
        }}
      />
      <span>{label}</span>
    </label>
  )
}
