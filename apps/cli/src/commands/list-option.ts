import { Option } from 'commander'

/** An option that may be given several times, or once with commas between; unlike a variadic one it swallows no argument. */
export function listOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text, before: string[] | undefined) => [
    ...(before ?? []),
    ...text.split(',').filter((word) => word !== ''),
  ])
}
