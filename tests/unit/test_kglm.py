"""KGLM and KglmDisc: batches, files, training, bad input."""

import json
from pathlib import Path

import pytest
import torch
from tiny_kglm import EDGES, SIZE, all_states, toy_model, toy_proposal, write_toy
from tiny_latent_training import entry_of

from textcritic.corpora.structured.links import write_knowledge
from textcritic.corpora.structured.texts import Edge, Mention, Structured, write_structured
from textcritic.corpora.synthetic.links import draw_linked_texts
from textcritic.errors import TextcriticError
from textcritic.generators.latent.kglm import KGLM, KglmDisc, Links, texts_of
from textcritic.generators.latent.kglm.states import CONTINUE, NEW, NONE, RELATED
from textcritic.generators.latent.train import Inputs, train_latent
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.training.loop import Run

SMALL = {"words": 16, "entities": 8, "hidden": 16, "layers": 1, "dropout": 0.2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    place = tmp_path_factory.mktemp("made up")
    texts = draw_linked_texts(60, 1)
    write_knowledge(texts, place / "knowledge")
    write_structured(place / "train.parquet", texts[:40], "made up")
    write_structured(place / "validation.parquet", texts[40:50], "made up")
    return place, texts


def learners(made_up):
    place, texts = made_up
    words = Vocabulary.count((text.tokens for text in texts), 3)
    torch.manual_seed(1)
    for kind, settings in ((KGLM, SMALL), (KglmDisc, SMALL), (KglmDisc, {**SMALL, "reads": "document"})):
        yield kind.build(kind.form(**settings), words, place / "knowledge").double().eval()


def own_score(learner, text, states):
    if isinstance(learner, KGLM):
        return learner.log_joint(text, states)
    return learner.log_q(text, states, 1.0)


def test_the_loss_is_the_score_of_the_states_that_a_text_has(made_up):
    for learner in learners(made_up):
        losses = learner.losses(made_up[1][:8]).detach()
        scores = [own_score(learner, text, learner.states_of(text)) for text in made_up[1][:8]]
        assert torch.allclose(losses, -torch.cat(scores), rtol=0, atol=1e-10)


def test_the_loss_of_a_text_does_not_depend_on_the_others(made_up):
    texts = sorted(made_up[1][:12], key=lambda text: len(text.tokens))
    for learner in learners(made_up):
        alone = torch.cat([learner.losses([text]) for text in texts])
        assert torch.allclose(learner.losses(texts), alone, rtol=0, atol=1e-10)


def test_many_states_at_once_score_as_one_at_a_time(made_up):
    model, proposal, _ = learners(made_up)
    text = made_up[1][0]
    states, log_q = proposal.draw(text, 30, 1.5, torch.Generator().manual_seed(1))
    assert len({tuple(row) for row in states.types.tolist()}) > 20
    together = model.log_joint(text, states)
    assert torch.isfinite(together).all()
    for row in range(30):
        one = states[row : row + 1]
        assert torch.allclose(model.log_joint(text, one), together[row : row + 1], rtol=0, atol=1e-9)
        assert torch.allclose(proposal.log_q(text, one, 1.5), log_q[row : row + 1], rtol=0, atol=1e-9)


def test_each_token_has_its_share_of_the_score(made_up):
    model, proposal, _ = learners(made_up)
    text = made_up[1][0]
    states, log_q = proposal.draw(text, 5, 1.0, torch.Generator().manual_seed(1))
    assert torch.allclose(model.log_joint_tokens(text, states).sum(1), model.log_joint(text, states))
    assert torch.allclose(proposal.log_q_tokens(text, states, 1.0).sum(1), log_q)
    # What comes later does not matter to a model, nor to a proposal that reads one token ahead.
    cut = Structured("cut", text.tokens[:6])
    begun = Links(states.types[:, :6], states.entities[:, :6])
    assert torch.allclose(model.log_joint_tokens(cut, begun), model.log_joint_tokens(text, states)[:, :6])
    assert torch.allclose(proposal.log_q_tokens(cut, begun, 1.0), proposal.log_q_tokens(text, states, 1.0)[:, :6])


@pytest.mark.parametrize(("reads", "same"), [("prefix", 3), ("next", 2), ("document", 0)])
def test_a_proposal_reads_what_its_setting_says(folder, reads, same):
    """Two texts differ in the third token: which choices differ?"""
    proposal = toy_proposal(folder, reads=reads)
    states = Links(*(torch.tensor([row]) for row in ([NEW, NONE, NEW, NEW], [0, -1, 1, 0])))
    one, other = (proposal.log_q_tokens(Structured("t", ("x", "y", word, "x")), states, 1.0)[0] for word in ("x", "y"))
    equal = (one - other).abs() < 1e-12
    assert equal.tolist() == [True] * same + [False] * (4 - same)


def test_states_come_back_from_texts(folder):
    model = toy_model(folder)
    states = all_states(3)
    text = Structured("t", ("x", "y", "x"))
    possible = torch.isfinite(model.log_joint(text, states))
    kept = Links(states.types[possible], states.entities[possible])
    for row, found in enumerate(texts_of(text, kept, model.graph, model.settings.window)):
        again = model.states_of(found)
        assert torch.equal(again.types[0], kept.types[row])
        assert torch.equal(again.entities[0], kept.entities[row])


def test_a_mention_whose_parents_are_too_far_away_is_new(folder):
    model = toy_model(folder)
    edge = (Edge("A", "r1"),)
    near = Structured("t", ("x", "y", "y"), mentions=(Mention(0, 1, "A"), Mention(2, 3, "B", edge)))
    far = Structured("t", ("x", "y", "y", "y"), mentions=(Mention(0, 1, "A"), Mention(3, 4, "B", edge)))
    wrong = Structured("t", ("x", "y", "y"), mentions=(Mention(0, 1, "B"), Mention(1, 2, "C", (Edge("B", "r1"),))))
    assert model.states_of(near).types.tolist() == [[NEW, NONE, RELATED]]
    assert model.states_of(far).types.tolist() == [[NEW, NONE, NONE, NEW]]
    assert model.states_of(wrong).types.tolist() == [[NEW, NEW, NONE]]


def test_states_that_are_not_possible_have_no_probability(folder):
    model, proposal, text = toy_model(folder), toy_proposal(folder), Structured("t", ("x", "y"))
    impossible = [
        ([RELATED, NONE], [0, -1]),  # nobody was mentioned before
        ([CONTINUE, NONE], [0, -1]),  # no mention goes on
        ([NEW, CONTINUE], [0, 1]),  # the entity changes
        ([NEW, RELATED], [2, 0]),  # no edge leads from C to A
    ]
    for types, entities in impossible:
        states = Links(torch.tensor([types]), torch.tensor([entities]))
        assert model.log_joint(text, states).item() == -torch.inf
        assert proposal.log_q(text, states, 1.0).item() == -torch.inf


def test_what_is_not_possible_as_states_is_an_error(folder):
    with pytest.raises(TextcriticError, match="where the type is none"):
        Links(torch.tensor([[NONE]]), torch.tensor([[0]]))
    with pytest.raises(TextcriticError, match="one shape"):
        Links(torch.tensor([[NONE]]), torch.tensor([[-1, -1]]))
    with pytest.raises(TextcriticError, match=r"has 1 tokens, but the states are of 2"):
        toy_model(folder).log_joint(Structured("t", ("x",)), all_states(2))


def test_an_entity_outside_of_the_graph_is_named(folder):
    text = Structured("t", ("x",), mentions=(Mention(0, 1, "Q9"),))
    with pytest.raises(TextcriticError, match="entity Q9 is not in the knowledge graph"):
        toy_model(folder).losses([text])


def test_a_graph_is_needed():
    with pytest.raises(TextcriticError, match="needs the folder of a knowledge graph"):
        KGLM.build(KGLM.form(), Vocabulary(("<unk>", "x")))


def test_a_saved_model_comes_back_and_wants_its_own_graph(folder, tmp_path):
    model = toy_model(folder, scale=1.0).float()
    model.save(tmp_path)
    text, states = Structured("t", ("x", "y")), all_states(2)
    assert torch.equal(KGLM.load(tmp_path, folder).log_joint(text, states), model.log_joint(text, states))
    other = write_toy(tmp_path / "other")
    (other / "graph.json").write_text(json.dumps({**EDGES, "A": EDGES["A"][1:]}))
    with pytest.raises(TextcriticError, match="another knowledge graph"):
        KGLM.load(tmp_path, other)


def test_frozen_entities_stay_as_they_are_drawn(made_up):
    place, texts = made_up
    words = Vocabulary.count((text.tokens for text in texts), 3)
    for kind in (KGLM, KglmDisc):
        learner = kind.build(kind.form(**SMALL, learn_entities=False), words, place / "knowledge")
        learner.losses(texts[:2]).sum().backward()
        assert learner.choices.entity.grad is None
        assert learner.choices.relation.grad is not None


def test_one_entity_without_names_is_written_from_the_vocabulary(folder):
    model = toy_model(folder)
    states = Links(torch.tensor([[NEW]]), torch.tensor([[2]]))
    log = torch.cat([model.log_joint(Structured("t", (word,)), states) for word in ("x", "y", "other")])
    _, head, edge = model.reader(model.words.embedding(torch.tensor([[3]])), torch.tensor([1]))
    new = model.choices.kinds(head[0, 0])[:2].softmax(0)[1] * (model.choices.entity @ (head + edge)[0, 0]).softmax(0)[2]
    assert float(log.exp().sum()) == pytest.approx(float(new.detach()))


def trained(made_up, folder: Path, steps: int, kind=KGLM):
    place, _ = made_up
    training = {"steps": steps, "batch_size": 8, "evaluate_every": 3, "learning_rate": 0.02}
    entry = entry_of(kind, SMALL, training, minimum_count=2)
    files = Inputs(
        train=place / "train.parquet", validation=place / "validation.parquet", knowledge=place / "knowledge"
    )
    run = Run(folder / "model", folder / "report.json", threads=1, checkpoint_seconds=0.0)
    return train_latent(files, entry, 1, run)


@pytest.mark.parametrize("kind", [KGLM, KglmDisc])
def test_training_lowers_the_loss(made_up, tmp_path, kind):
    report = trained(made_up, tmp_path, 15, kind)
    losses = [point["validation_loss"] for point in report["curve"] if point.get("validation_loss") is not None]
    assert losses[-1] < 0.8 * losses[0]


def test_an_interrupted_training_goes_on_to_the_same_bits(made_up, tmp_path, monkeypatch):
    whole, halted = tmp_path / "whole", tmp_path / "halted"
    trained(made_up, whole, 8)
    losses = KGLM.losses

    def halt(self, texts):
        halt.calls += 1
        if halt.calls == 12:
            raise KeyboardInterrupt
        return losses(self, texts)

    halt.calls = 0
    monkeypatch.setattr(KGLM, "losses", halt)
    with pytest.raises(KeyboardInterrupt):
        trained(made_up, halted, 8)
    monkeypatch.setattr(KGLM, "losses", losses)
    assert not (halted / "model").exists()
    trained(made_up, halted, 8)
    one, other = ((folder / "model/model.safetensors").read_bytes() for folder in (whole, halted))
    assert one == other


def test_the_toy_is_what_the_tests_say(folder):
    """Parallel edges from A to B, and SIZE's window."""
    graph = toy_model(folder).graph
    a, b = graph.numbers["A"], graph.numbers["B"]
    there, pair = graph.find_pairs(torch.tensor([a, b, b]), torch.tensor([b, a, 2]))
    assert there.tolist() == [True, True, False]
    assert int(graph.pair_starts[pair[0] + 1] - graph.pair_starts[pair[0]]) == 2
    assert SIZE["window"] == 2
