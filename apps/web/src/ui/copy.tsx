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
  /** For those who do not see beside what the button stands. */
  what: string
  /** What the button says where it stands beside nothing. */
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

/** An id or address in full, for copying; long ones are cut to fit by the page's width. */
export function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  )
}
