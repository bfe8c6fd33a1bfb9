import { BrokenRule } from '../../src/parsers/engine/parser.ts'

let isFound = false
export const wasFound = () => isFound

/** A fault behind four conditions: nobody meets all of them by chance. */
export function readPlanted([first, second, third, fourth]: Uint8Array): void {
  if (first !== 0x73) return
  if (second !== 0x76) return
  if (third !== 0x63) return
  if (fourth !== 0x21) return
  isFound = true
  throw new BrokenRule('the fault was found')
}
