import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Tab {
  name: string
  content: ComponentChildren
  /** The tab stays rendered while another tab is shown. */
  staysMounted?: boolean
}

interface TabsProps {
  label: string
  tabs: readonly Tab[]
  /** The index of the shown tab, if it must outlive the tabs. */
  chosen?: Signal<number>
}

/** Tabs with arrow-key navigation, as screen readers announce. */
export function Tabs({ label, tabs, chosen: given }: TabsProps) {
  const own = useSignal(0)
  const chosen = given ?? own
  const id = useId()
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    chosen.value = (chosen.value + step + tabs.length) % tabs.length
    document.getElementById(`${id}-${chosen.value}`)?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name }, i) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${i}`}
            aria-selected={i === chosen.value}
            aria-controls={`${id}-panel-${i}`}
            tabIndex={i === chosen.value ? 0 : -1}
            onClick={() => {
              chosen.value = i
            }}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ name, content, staysMounted }, i) => (
        <div
          key={name}
          role="tabpanel"
          id={`${id}-panel-${i}`}
          aria-labelledby={`${id}-${i}`}
          hidden={i !== chosen.value}
        >
          {(i === chosen.value || staysMounted) && content}
        </div>
      ))}
    </div>
  )
}
