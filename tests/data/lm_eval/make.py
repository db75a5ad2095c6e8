"""Makes the logs in this folder by lm-evaluation-harness (see tests/data/README.md): `python make.py WORK`.

A GPT-2 of two layers learns the recipes of `tests/micro` for a minute; then lm_eval asks it for recipes, one a prompt
(recipes), three a prompt and through two filters (again), and for the likelihood of two answers (choice).
"""

import json
import subprocess
import sys
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "micro"))

from recipes import write  # noqa: E402

PROMPT = "Write a recipe."
END = "<|endoftext|>"
STEPS, BATCH, WINDOW = 600, 16, 256
SAMPLED = "do_sample: true\n  temperature: 1.0\n  top_k: 0\n  max_gen_toks: 160\n  until: ['<|endoftext|>']"
TASK = """\
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
doc_to_text: "{{{{prompt}}}}"
doc_to_target: ""
"""
GENERATED = (
    TASK
    + "output_type: generate_until\ngeneration_kwargs:\n  "
    + SAMPLED
    + "\nmetric_list: [{{metric: bypass, aggregation: bypass, higher_is_better: true}}]\n"
)
AGAIN = """\
repeats: 3
filter_list:
- {name: first, filter: [{function: take_first}]}
- {name: all, filter: [{function: take_first_k, k: 3}]}
"""
CHOICE = TASK + "output_type: multiple_choice\ndoc_to_choice: [one, two]\nmetric_list: [{{metric: acc}}]\n"


def main(work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    write(work)
    train(texts(work / "recipes.jsonl"), work / "model")
    data = work / "prompts.jsonl"
    tasks = {"recipes": (GENERATED, 40), "again": (GENERATED + AGAIN.replace("{", "{{").replace("}", "}}"), 4)}
    for name, (task, number) in {
        **tasks,
        "choice": (CHOICE.replace('doc_to_target: ""', "doc_to_target: 0"), 2),
    }.items():
        data = work / f"{name}.prompts.jsonl"
        data.write_text("".join(json.dumps({"id": n, "prompt": PROMPT}) + "\n" for n in range(number)))
        (work / f"{name}.yaml").write_text(task.format(name=name, data=data))
        command = ["lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={work / 'model'}", "--device", "cpu"]
        command += ["--tasks", str(work / f"{name}.yaml"), "--log_samples", "--output_path", str(work / "out")]
        subprocess.run([*command, "--seed", "1", "--batch_size", "4"], check=True)
        log = max(work.glob(f"out/**/samples_{name}_*.jsonl"))
        (HERE / f"samples_{name}.jsonl").write_text(log.read_text(encoding="utf-8"), encoding="utf-8")


def texts(path: Path) -> list[str]:
    articles = [json.loads(line)["sections"] for line in path.read_text(encoding="utf-8").splitlines()]
    return ["\n\n".join(f"## {part['title'].capitalize()}\n\n{part['text']}" for part in parts) for parts in articles]


def train(answers: list[str], folder: Path) -> None:
    """A model that goes on from the prompt with a recipe."""
    folder.mkdir(exist_ok=True)
    byte_pairs = ByteLevelBPETokenizer()
    byte_pairs.train_from_iterator([PROMPT, *answers], vocab_size=400, special_tokens=[END])
    byte_pairs.save_model(str(folder))
    tokenizer = GPT2TokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=WINDOW)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    lines = [tokenizer.encode(f"{PROMPT}\n\n{answer}{END}")[:WINDOW] for answer in answers]
    end = tokenizer.eos_token_id
    ends = {"bos_token_id": end, "eos_token_id": end}
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=WINDOW, n_embd=64, n_layer=2, n_head=2, **ends)
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(STEPS):
        batch = [torch.tensor(lines[n]) for n in torch.randint(len(lines), (BATCH,))]
        tokens = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=end)
        labels = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=-100)
        loss = model(tokens, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")
    model.save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
