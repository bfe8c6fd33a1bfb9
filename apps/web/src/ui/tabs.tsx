import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Tab {
  name: string
  content: ComponentChildren
  /** Stays drawn while another tab is shown. */
  isKept?: boolean
}

interface TabsProps {
  label: string
  tabs: readonly Tab[]
  /** For a page that remembers which one is shown; without it, the tabs do. */
  chosen?: number
  onChoose?: (tab: number) => void
}

/** Arrow keys move between tabs, as screen readers announce. */
export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const own = useSignal(0)
  const id = useId()
  const now = chosen ?? own.value
  const choose = (tab: number) => {
    own.value = tab
    onChoose?.(tab)
  }
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    const next = (now + step + tabs.length) % tabs.length
    choose(next)
    document.getElementById(`${id}-${next}`)?.focus()
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
            aria-selected={i === now}
            aria-controls={`${id}-panel-${i}`}
            tabIndex={i === now ? 0 : -1}
            onClick={() => choose(i)}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ name, content, isKept }, i) => (
        <div key={name} role="tabpanel" id={`${id}-panel-${i}`} aria-labelledby={`${id}-${i}`} hidden={i !== now}>
          {(i === now || isKept) && content}
        </div>
      ))}
    </div>
  )
}
