import { common } from '#texts/common'
import { Icon } from './icons.tsx'
import { toast } from './toast.tsx'

const t = common.copy

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(t.copied)
  } catch {
    toast(t.refused)
  }
}

interface CopyButtonProps {
  text: string | (() => Promise<string>)
  /** Describes the copied value for screen readers. */
  what: string
  /** The text of a button that has no value beside it. */
  label?: string
}

export function CopyButton({ text, what, label = t.copy }: CopyButtonProps) {
  const onClick = async () => copy(typeof text === 'string' ? text : await text())
  return (
    <button type="button" class="copy" onClick={() => void onClick()} aria-label={t.label(what)} title={t.label(what)}>
      <Icon name="copy" />
      <span aria-hidden="true">{label}</span>
    </button>
  )
}

/** A complete id or address, with a copy button; the page's width cuts long ones. */
export function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  )
}
