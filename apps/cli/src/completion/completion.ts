import { Argument, type Command } from 'commander'
import type { Open } from '../session.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { wordsOf } from './words.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }
type Shell = keyof typeof SCRIPTS

export function add(program: Command, open: Open): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nbash, zsh:  source <(svc completion bash)\nfish:       svc completion fish | source\n\nTo keep it, put that line into the file that your shell reads when it starts.',
    )
    .action(async (shell: Shell, _: object, command: Command) => {
      const { output } = await open(command)
      const script = SCRIPTS[shell](wordsOf(program))
      output.result({ shell, script }, () => script.trimEnd())
    })
}
