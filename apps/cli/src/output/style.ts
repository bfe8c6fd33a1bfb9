import { styleText } from 'node:util'
import type { Environment, TextStream } from '../host.ts'

export interface Style {
  good(text: string): string
  bad(text: string): string
  dim(text: string): string
  strong(text: string): string
}

const unchanged = (text: string) => text

/** Without colours, for files. */
export const PLAIN: Style = { good: unchanged, bad: unchanged, dim: unchanged, strong: unchanged }

/** Colours on terminals, unless NO_COLOR is set (https://no-color.org). */
export function styleFor(stream: TextStream, env: Environment): Style {
  const isColoured = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  const styled = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text
  return { good: styled('green'), bad: styled('red'), dim: styled('dim'), strong: styled('bold') }
}
