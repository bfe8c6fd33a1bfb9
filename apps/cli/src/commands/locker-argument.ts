import { Argument } from 'commander'

/** In place of `--locker`. */
export function lockerArgument(): Argument {
  return new Argument('[locker]', 'its name, receipt or id; not needed where there is only one')
}
